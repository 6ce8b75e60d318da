/** Nothing that npm installs runs a program for it: a package that wants to is named here, with why it need not. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'

const root = join(import.meta.dirname, '..', '..')
const read = (path: string): string => readFileSync(join(root, path), 'utf8')

/** Packages of package-lock.json that have a script for their installation. */
const named: Readonly<Record<string, string>> = {
  esbuild:
    'puts its program in the place of bin/esbuild, which is quicker to start; without that bin/esbuild and its API start the program of @esbuild/linux-*',
  protobufjs: 'prints a warning where the version of a dependent is not as its author likes it',
}

interface Lock {
  readonly packages: Readonly<Record<string, { readonly hasInstallScript?: boolean }>>
}

t.test('packages that want to run a script are those that are known', t => {
  const { packages } = JSON.parse(read('package-lock.json')) as Lock
  const wanting = Object.entries(packages)
    .filter(([, { hasInstallScript }]) => hasInstallScript)
    .map(([path]) => path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length))
  t.strictSame([...new Set(wanting)].sort(), Object.keys(named).sort())
  t.end()
})

t.test('none does', t => {
  t.match(read('.npmrc'), /^ignore-scripts=true$/m)
  for (const line of read('scripts/setup.sh').matchAll(/^.*\bnpm (?:ci|install).*$/gm))
    t.notMatch(line[0], /ignore-scripts|rebuild/, 'the file alone says so')
  const { scripts } = JSON.parse(read('package.json')) as { scripts: object }
  const own = Object.keys(scripts).filter(name => /^(?:pre|post)?(?:install|prepare)$/.test(name))
  t.strictSame(own, [], 'nor have we one, which would not be run')
  t.end()
})
