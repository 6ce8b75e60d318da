import { existsSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { isExecutable } from '../../../host/find-program.ts'
import { runProgram } from '../../../host/run-program.ts'
import { fail, ok, skip, type Check } from '../check.ts'
import { loaderOf } from '../elf-loader.ts'

const isFile = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isFile() === true

/** Called without CNI_COMMAND a plugin says on stderr what it is (cni-protocol A15). */
async function versionOf(path: string): Promise<string | undefined> {
  const end = await runProgram({ path, args: [], env: {}, timeoutMs: 4000 })
  return /^CNI ipkeeper plugin v(\S{1,40})$/m.exec(end.stderr)?.[1]
}

export const pluginCheck: Check = {
  id: 'plugin',
  title: 'the plugin is installed',
  why: 'The runtime starts the plugin from its folder of plugins; one of another version than the daemon may not understand its answers.',
  run: async node => {
    const wanted = (await node.status())?.version ?? node.version
    const { binDirs } = node
    if (binDirs.length === 0) return skip('there is no folder of plugins; name it with --bin-dir DIR')
    const paths = binDirs.map(folder => join(folder, 'ipkeeper')).filter(isFile)
    const [first] = binDirs
    const install = ['make', 'install', `CNI_BIN_DIR=${first ?? ''}`]
    if (paths.length === 0) return fail(`no ipkeeper in ${binDirs.join(', ')}`, ...install)
    for (const path of paths) {
      if (!isExecutable(path)) return fail(`${path} is not executable`, 'chmod', '0755', path)
      // The kernel says "No such file or directory", and runtimes say it of the plugin, which is there.
      const loader = loaderOf(path)
      if (loader !== undefined && !existsSync(loader))
        return fail(`${path} does not start: it needs ${loader}, which is not there`, 'ls', '-l', loader)
      const version = await versionOf(path)
      if (version === undefined) return fail(`${path} does not say that it is ipkeeper`, ...install)
      if (version !== wanted) return fail(`${path} is ${version}, and ipkeeper-server ${wanted}`, ...install)
    }
    return ok(`${paths.join(', ')}, version ${wanted}`)
  },
}
