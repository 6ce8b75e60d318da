import { writeFileSync } from 'node:fs'
import t from 'tap'
import { deliveryProblem, openDelivery } from '../../../ipkeeper-server/export/open-delivery.ts'
import { Problem } from '../../../shared/problem/problem.ts'
import { tempFolder } from '../../rigs/temp-folder.ts'

const receiver = { protocol: 'tls', host: '192.0.2.10', port: 6514 } as const

t.test('what goes wrong on the way is said for who has to do something', t => {
  const own = new Problem('IPK_HISTORY_EXPORT', 'as it is')
  t.equal(deliveryProblem(receiver, own), own)
  for (const [error, why] of [
    [{ code: 'ECONNREFUSED' }, 'nobody listens there'],
    [{ code: 'EPIPE' }, 'it reset the connection, so it may not have read all'],
    [{ code: 'ENOTFOUND' }, 'there is no such name'],
    [{ code: 'SELF_SIGNED_CERT_IN_CHAIN' }, 'its certificate is signed by nobody whom "caFile" names'],
    [{ code: 'EPROTO' }, 'wrong version number'],
    [{}, 'wrong version number'],
  ] as const)
    t.match(deliveryProblem(receiver, Object.assign(new Error('wrong version number'), error)), {
      code: 'IPK_HISTORY_EXPORT',
      message: `tls://192.0.2.10:6514: ${why}`,
      hint: /ipkeeperctl status/,
    })
  t.end()
})

t.test('files of TLS that cannot be used are named before anybody is called', async t => {
  const file = tempFolder(t).file('ca.crt')
  await t.rejects(openDelivery({ receiver, caFile: file }, {}), {
    ...{ code: 'IPK_HISTORY_EXPORT', message: `history.export.caFile: ${file} cannot be read (ENOENT)` },
  })
  writeFileSync(file, 'no certificate')
  await t.rejects(openDelivery({ receiver, caFile: file }, {}), {
    ...{ code: 'IPK_HISTORY_EXPORT', message: /^history\.export: the certificate authority is not in PEM/ },
  })
})
