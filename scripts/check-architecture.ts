/**
 * Checks who imports whom: the rules of .dependency-cruiser.cjs over the sources, and what really is inside the
 * plugin once it is bundled (a package, or what the daemon alone advises, can come in by way of shared/, where it is
 * allowed for the daemon).
 */
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { build } from 'esbuild'

const root = join(import.meta.dirname, '..')
const folders = ['plugin', 'ipkeeper-server', 'shared', 'scripts', 'test', 'bench'].filter(folder =>
  existsSync(join(root, folder)),
)

const cruise = spawnSync(
  process.execPath,
  [
    join(root, 'node_modules', '.bin', 'depcruise'),
    ...['--config', '.dependency-cruiser.cjs'],
    ...['--output-type', 'err-long'],
    ...folders,
  ],
  { cwd: root, encoding: 'utf8' },
)
if (cruise.status !== 0) {
  console.error(cruise.stdout + cruise.stderr)
  process.exitCode = 1
}

const { metafile } = await build({
  entryPoints: [join(root, 'plugin', 'edges', 'node', 'main.ts')],
  absWorkingDir: root,
  bundle: true,
  platform: 'node',
  format: 'cjs',
  metafile: true,
  write: false,
  logLevel: 'error',
})
const foreign = Object.entries(metafile.inputs).filter(
  ([path]) => !/^(plugin|shared(?!\/remedy))\//.test(path),
)
for (const [path] of foreign) {
  const [importer] = Object.entries(metafile.inputs).find(([, input]) =>
    input.imports.some(imported => imported.path === path),
  ) ?? ['an unknown file']
  console.error(
    `error plugin-bundle: ${importer} brings ${path} into the plugin\n` +
      '    The plugin is bundled from plugin/ and shared/ alone, without shared/remedy/: more costs start-up time of every pod.',
  )
  process.exitCode = 1
}
