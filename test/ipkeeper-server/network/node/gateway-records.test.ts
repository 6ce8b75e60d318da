import { mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs'
import t, { type Test } from 'tap'
import { GatewayRecords } from '../../../../ipkeeper-server/network/node/gateway-records.ts'
import { tempFolder, type TempFolder } from '../../../rigs/temp-folder.ts'

function makeFolder(t: Test): TempFolder {
  const folder = tempFolder(t)
  return folder
}

function open({ path }: TempFolder, { bootId = 'boot-1', problems = [] as unknown[] } = {}): GatewayRecords {
  return new GatewayRecords({ stateDir: path, bootId, onProblem: error => problems.push(error) })
}

const known = (records: GatewayRecords): Readonly<Record<string, readonly string[]>> =>
  Object.fromEntries(records.bridges().map(bridge => [bridge, records.of(bridge)]))

t.test('what is recorded outlives the daemon, and not the boot', async t => {
  const folder = makeFolder(t)
  const records = open(folder)
  t.same(known(records), {}, 'no file yet')
  await records.add('ipk0', ['10.60.0.1/24', 'fd00:60::1/64'])
  await Promise.all([
    records.add('br7', ['10.61.0.1/24']),
    records.add('ipk0', ['10.62.0.1/24', '10.60.0.1/24']),
  ])
  const all = { ipk0: ['10.60.0.1/24', 'fd00:60::1/64', '10.62.0.1/24'], br7: ['10.61.0.1/24'] }
  t.same(known(records), all)
  t.same(known(open(folder)), all)
  t.same(known(open(folder, { bootId: 'boot-2' })), {})
  t.same(readdirSync(folder.path), ['gateways.json'], 'nothing else is left')
  t.equal(statSync(folder.file('gateways.json')).mode & 0o777, 0o600)
  for (const [address, expected] of [
    ['10.61.0.1', true],
    ['fd00:60::1', true],
    ['10.61.0.2', false],
  ] as const)
    t.equal(records.has(address), expected, address)
})

t.test('what is forgotten', async t => {
  const folder = makeFolder(t)
  const records = open(folder)
  await records.add('ipk0', ['10.60.0.1/24', '10.61.0.1/24'])
  records.forget('ipk0', ['10.60.0.1/24', '10.99.0.1/24'])
  records.forget('br7', ['10.61.0.1/24'])
  t.same(known(records), { ipk0: ['10.61.0.1/24'] }, 'at once')
  await records.idle()
  t.same(known(open(folder)), { ipk0: ['10.61.0.1/24'] })
  records.forget('ipk0', ['10.61.0.1/24'])
  t.same(records.bridges(), [])
  await records.idle()
  t.same(known(open(folder)), {})
})

t.test('a file that is none counts as empty', t => {
  const folder = makeFolder(t)
  const whole = JSON.stringify({ version: 1, bootId: 'boot-1', bridges: { ipk0: ['10.60.0.1/24'] } })
  for (const text of ['', '{', 'null', '[]', whole.slice(0, -2), whole.replace('1', '2')]) {
    writeFileSync(folder.file('gateways.json'), text)
    t.same(known(open(folder)), {}, JSON.stringify(text))
  }
  writeFileSync(folder.file('gateways.json'), whole.replace('["10.60.0.1/24"]', '7'))
  t.same(known(open(folder)), {}, 'a bridge without a list')
  writeFileSync(folder.file('gateways.json'), whole)
  t.same(known(open(folder)), { ipk0: ['10.60.0.1/24'] })
  t.end()
})

t.test('a folder that cannot be written', async t => {
  const folder = makeFolder(t)
  const problems: unknown[] = []
  mkdirSync(folder.file('gateways.json'))
  const records = open(folder, { problems })
  await t.rejects(records.add('ipk0', ['10.60.0.1/24']), { code: 'EISDIR' })
  t.same(known(records), {}, 'nothing is ours that is not written down')
  t.same(problems, [], 'who adds is told')
})
