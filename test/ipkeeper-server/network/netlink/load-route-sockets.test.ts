import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { loadLibrary } from '../../../../ipkeeper-server/network/netlink/load-route-sockets.ts'
import { makeTempFolder } from '../../../rigs/temp-folder.ts'

const root = join(import.meta.dirname, '..', '..', '..', '..')
const koffi = `node_modules/@koromix/koffi-linux-${process.arch}/linux_${process.arch}/koffi.node`

t.test('a library is loaded from a folder of its own, of which nothing is left', async t => {
  const folder = makeTempFolder()
  t.teardown(() => {
    folder.remove()
  })
  const place = folder.file('native')
  const bytes = readFileSync(join(root, koffi))
  const text = (number: number, { load }: Awaited<ReturnType<typeof loadLibrary>>): unknown =>
    load('libc.so.6').func('const char *strerror(int)')(number)
  t.equal(text(17, await loadLibrary(bytes, place)), 'File exists')
  t.notOk(existsSync(place))
  mkdirSync(place)
  writeFileSync(join(place, 'koffi.node'), 'of another daemon')
  t.equal(text(19, await loadLibrary(bytes, place)), 'No such device', 'what an earlier one left is not used')
  t.notOk(existsSync(place))
})

t.test('what cannot be loaded is said, and nothing is left', async t => {
  const folder = makeTempFolder()
  t.teardown(() => {
    folder.remove()
  })
  for (const bytes of [Buffer.from('no library'), Buffer.alloc(0)])
    await t.rejects(loadLibrary(bytes, folder.file('native')), { message: /koffi\.node/ })
  t.notOk(existsSync(folder.file('native')))
  const bytes = readFileSync(join(root, koffi))
  const cutOff = async (path: Parameters<typeof writeFile>[0]): Promise<void> => {
    await writeFile(path, bytes.subarray(0, 5000))
  }
  const message = `${folder.file('native', 'koffi.node')} is not what was written`
  await t.rejects(loadLibrary(bytes, folder.file('native'), cutOff), { message })
  t.notOk(existsSync(folder.file('native')))
  await t.rejects(loadLibrary(Buffer.from(''), folder.file('not', 'there')), { code: 'ENOENT' })
  const full = async (): Promise<void> => {
    await Promise.reject(new Error('ENOSPC: no space left on device, write'))
  }
  await t.rejects(loadLibrary(bytes, folder.file('native'), full), { message: /ENOSPC/ })
  t.notOk(existsSync(folder.file('native')))
})
