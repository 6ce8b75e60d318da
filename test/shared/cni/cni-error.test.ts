import t from 'tap'
import { cniErrorDocument, type CniFailure } from '../../../shared/cni/cni-error.ts'
import { Problem } from '../../../shared/problem/problem.ts'

const held: CniFailure = {
  code: 'IPK_ADDRESS_HELD',
  message: 'address 10.22.0.50 is held by shop/web-0 on worker-1',
  hint: 'choose another address',
  cniCode: 101,
  details: 'since 10:00',
  requestId: 'r-7',
}

t.test('details: what to do and whom to ask', t => {
  t.same(cniErrorDocument(held, '1.0.0', 'ADD'), {
    cniVersion: '1.0.0',
    code: 101,
    msg: 'address 10.22.0.50 is held by shop/web-0 on worker-1',
    details: 'since 10:00; choose another address; [IPK_ADDRESS_HELD, request r-7]',
  })
  const bare = { ...held, details: '', hint: '' }
  t.equal(cniErrorDocument(bare, '1.0.0', 'ADD').details, '[IPK_ADDRESS_HELD, request r-7]')
  const own = new Problem('IPK_DAEMON_TIMEOUT', 'late', { hint: 'look' }).toDocument()
  t.equal(cniErrorDocument(own, '1.0.0', 'ADD').details, 'look; [IPK_DAEMON_TIMEOUT]')
  const newer = { ...bare, code: 'IPK_OF_A_LATER_VERSION', cniCode: 150 }
  t.match(cniErrorDocument(newer, '1.0.0', 'ADD'), {
    code: 150,
    details: '[IPK_OF_A_LATER_VERSION, request r-7]',
  })
  t.end()
})

t.test("where the reference words the error, its details are the library's alone", t => {
  const name = new Problem('IPK_NETWORK_NAME', 'invalid characters found in network name', {
    details: 'te%%st',
  })
  t.same(cniErrorDocument(name.toDocument(), '0.4.0', 'ADD'), {
    cniVersion: '0.4.0',
    code: 7,
    msg: 'invalid characters found in network name',
    details: 'te%%st',
  })
  const missing = new Problem('IPK_NETWORK_NAME', 'missing network name')
  t.notOk('details' in cniErrorDocument(missing.toDocument(), '1.1.0', 'ADD'))
  t.end()
})

t.test('a failed DEL never reads like one that had nothing to do: F1', t => {
  const trap: CniFailure = {
    ...held,
    message: 'interface Not Found: open /x: no such file or directory',
    details: 'not found, not found',
    hint: 'No such file or directory',
  }
  const shown = JSON.stringify(cniErrorDocument(trap, '1.0.0', 'DEL'))
  t.notMatch(shown, /not found/i)
  t.notMatch(shown, /no such file or directory/i)
  t.match(cniErrorDocument(trap, '1.0.0', 'ADD').msg, 'Not Found', 'other verbs keep their words')
  t.end()
})
