import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, lstatSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { atProcessEnd } from '../rigs/finish.ts'
import { makeTempFolder, type TempFolder } from '../rigs/temp-folder.ts'
import { unmended, type Mend } from '../simulation/put-back.ts'

const root = join(import.meta.dirname, '..', '..')

/** What executables are built from; files of the root besides. */
const sources = ['deploy', 'docs/reference', 'ipkeeper-server', 'plugin', 'scripts', 'shared']

/**
 * Builds executables with a fault put back, from a copy of the sources: nothing in the checkout changes.
 *
 * @returns a folder with them in `dist`, which is gone at the latest when the process ends
 */
export async function buildWithFault(mends: readonly Mend[]): Promise<TempFolder> {
  const folder = makeTempFolder()
  try {
    copySources(folder)
    for (const mend of mends) {
      const path = folder.file(mend.file)
      writeFileSync(path, unmended(readFileSync(path, 'utf8'), mend))
    }
    await build(folder)
    return folder
  } catch (error) {
    folder.remove()
    throw error
  }
}

/** Also what is not committed yet. */
function copySources(folder: TempFolder): void {
  const listed = execFileSync(
    'git',
    ['ls-files', '-z', '--cached', '--others', '--exclude-standard', '--', ':(glob)*', ...sources],
    { cwd: root, encoding: 'utf8' },
  )
  for (const name of new Set(listed.split('\0')))
    // One that was removed is listed until that is committed.
    if (name !== '' && lstatSync(join(root, name), { throwIfNoEntry: false }))
      cpSync(join(root, name), folder.file(name))
  symlinkSync(join(root, 'node_modules'), folder.file('node_modules'))
}

async function build(folder: TempFolder): Promise<void> {
  const child = spawn(process.execPath, [folder.file('scripts', 'build-executables.ts')], {
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  const withdraw = atProcessEnd(() => child.kill('SIGKILL'))
  const [code] = (await once(child, 'close')) as [number | null]
  withdraw()
  if (code !== 0) throw new Error(`the executables could not be built: exit ${String(code)}`)
}
