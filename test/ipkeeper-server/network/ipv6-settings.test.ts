import t from 'tap'
import { readIpv6Setting, writeIpv6Setting } from '../../../ipkeeper-server/network/ipv6-settings.ts'
import { thrownProblem } from '../../rigs/thrown-problem.ts'

t.test('a link that is not there, or has no IPv6', async t => {
  t.equal(await readIpv6Setting('none', 'accept_ra'), undefined)
  t.match(await thrownProblem(() => writeIpv6Setting('none', 'accept_ra', '0')), {
    code: 'IPK_WIRING_FAILED',
    message: /^cannot write 0 to accept_ra of none: ENOENT/,
  })
})
