import t from 'tap'
import { chooseConflist } from '../../../../ipkeeper-server/diagnose/try/choose-conflist.ts'
import { thrownProblem } from '../../../rigs/thrown-problem.ts'

t.test('the file that containerd takes', async t => {
  const rows: readonly (readonly [names: readonly string[], chosen: string])[] = [
    [['20-b.conflist', '10-a.conflist'], '10-a.conflist'],
    [['10-a.conflist', '.hidden.conf'], '.hidden.conf'],
    [['9-a.json', '10-b.conf'], '10-b.conf'],
    [['10-a.conflist.bak', '10-a.txt', 'z.conflist'], 'z.conflist'],
    [['\u{1f600}.conflist', '\uff5e.conflist'], '\uff5e.conflist'],
  ]
  for (const [names, chosen] of rows) {
    const folder = t.testdir(Object.fromEntries(names.map(name => [name, ''])))
    t.equal(await chooseConflist(folder), `${folder}/${chosen}`)
  }
})

t.test('none', async t => {
  const folder = t.testdir({ 'a.conflist': {}, 'b.txt': '' })
  t.match(await thrownProblem(() => chooseConflist(folder)), {
    code: 'IPK_CONFLIST_MISSING',
    message: /has no \.conflist/,
  })
  t.match(await thrownProblem(() => chooseConflist(`${folder}/none`)), {
    code: 'IPK_CONF_DIR_UNREADABLE',
    message: /cannot be read: there is no such folder/,
  })
})
