import { mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs'
import t from 'tap'
import { UplinkRecords, type UplinkRecord } from '../../../../ipkeeper-server/network/node/uplink-records.ts'
import { tempFolder } from '../../../rigs/temp-folder.ts'

const recordOf = (bridge: string): UplinkRecord => ({
  ...{ version: 1, bootId: 'boot-1', phase: 'joining', at: 1_000 },
  joint: { bridge, uplink: 'eth1', made: true, wasUp: true, moved: { addresses: [], routes: [] } },
})

t.test('a record is there from its writing to its removal', async t => {
  const folder = tempFolder(t)
  const records = new UplinkRecords(folder.path)
  t.same(await records.names(), [], 'no folder yet')
  t.equal(await records.read('br0'), undefined)
  await records.write(recordOf('br1'))
  await records.write(recordOf('br0.7'))
  await records.write({ ...recordOf('br1'), phase: 'joined' })
  t.same(await records.names(), ['br0.7', 'br1'])
  t.same(await records.read('br1'), { ...recordOf('br1'), phase: 'joined' })
  t.same(readdirSync(folder.file('uplinks')).sort(), ['br0.7.json', 'br1.json'], 'nothing else is left')
  t.equal(statSync(folder.file('uplinks', 'br1.json')).mode & 0o777, 0o600)
  await records.remove('br1')
  await records.remove('br1')
  t.same(await records.names(), ['br0.7'])
})

t.test('a file that is no record', async t => {
  const folder = tempFolder(t)
  const records = new UplinkRecords(folder.path)
  await records.write(recordOf('br0'))
  const whole = JSON.stringify(recordOf('br0'))
  for (const text of ['', '{', 'null', '[]', whole.slice(0, -2), JSON.stringify(recordOf('br1'))]) {
    writeFileSync(folder.file('uplinks', 'br0.json'), text)
    await t.rejects(
      records.read('br0'),
      { code: 'IPK_STORE_FAILED', message: /br0\.json cannot be read/, hint: /remove the file/ },
      JSON.stringify(text),
    )
  }
})

t.test('a folder that cannot be written', async t => {
  const folder = tempFolder(t)
  mkdirSync(folder.file('uplinks', 'br0.json'), { recursive: true })
  const records = new UplinkRecords(folder.path)
  await t.rejects(records.write(recordOf('br0')), { code: 'IPK_STORE_FAILED', message: /cannot be written/ })
})
