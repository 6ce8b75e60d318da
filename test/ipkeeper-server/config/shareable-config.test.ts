import { writeFileSync } from 'node:fs'
import t from 'tap'
import { ConfigKeeper } from '../../../ipkeeper-server/config/kept-config.ts'
import { shareableFile, shareableKept } from '../../../ipkeeper-server/config/shareable-config.ts'
import { tempFolder } from '../../rigs/temp-folder.ts'
import { thrownProblem } from '../../rigs/thrown-problem.ts'

t.test('only what the schema knows gets through', t => {
  const path = tempFolder(t).file('c.yaml')
  const read = (text: string) => {
    writeFileSync(path, text)
    return shareableFile(path)
  }
  const config = read(`# a comment with hunter1
node: n1
nodeLabels: { rack: r7 }
pools: [{ name: prod, subnet: 10.22.0.0/24, exclude: [10.22.0.9], token: hunter2 }]
store: { etcd: { user: ipkeeper, passwordFile: hunter3, caFile: /etc/ca.crt } }
webhook: hunter4
password: { a: [hunter5, 6] }
runtime: { sockets: [/run/a.sock, 7] }
`)
  t.strictSame(config?.value, {
    node: 'n1',
    nodeLabels: { rack: 'r7' },
    pools: [
      {
        ...{ name: 'prod', subnet: '10.22.0.0/24', exclude: ['10.22.0.9'] },
        token: '(removed: not a key of the configuration)',
      },
    ],
    store: {
      etcd: {
        ...{ user: 'ipkeeper', caFile: '/etc/ca.crt' },
        passwordFile: '(removed: not a value of this key)',
      },
    },
    webhook: '(removed: not a value of this key)',
    password: '(removed: not a key of the configuration)',
    runtime: { sockets: ['/run/a.sock', '(removed: not a value of this key)'] },
  })
  t.strictSame(config?.suspects, ['hunter3', '7'])
  t.match(config?.decoded, { webhook: 'hunter4' })
  t.strictSame(read('')?.value, {})
  t.match(read('a: [hunter2'), { value: undefined, text: 'a: [hunter2' })
  t.equal(read('just hunter2')?.value, '(removed: not a value of this key)')
  t.end()
})

t.test('files that are not there', async t => {
  const folder = tempFolder(t)
  t.equal(shareableFile(folder.file('none.yaml')), undefined)
  t.equal(shareableKept(folder.file('none')), undefined)
  writeFileSync(folder.file('last-good-config.json'), '{')
  t.match(await thrownProblem(() => shareableKept(folder.file('.'))), { code: 'IPK_CONFIG_COPY' })
})

t.test('the copy of what was last in force', async t => {
  const stateDir = tempFolder(t).path
  const keeper = new ConfigKeeper({ stateDir, onProblem: () => undefined })
  t.teardown(() => keeper.stop())
  await keeper.keep({ text: 'node: null\npwd: hunter2\n', loadedAt: 1, strict: undefined })
  t.match(shareableKept(stateDir), {
    value: { node: null, pwd: '(removed: not a key of the configuration)' },
    decoded: { pwd: 'hunter2' },
  })
})
