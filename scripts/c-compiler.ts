import { spawnSync } from 'node:child_process'
import { hostArchitecture } from './fetch-node.ts'
import type { Architecture } from './package-executable.ts'

const crossCompilers = { x64: 'x86_64-linux-gnu-gcc', arm64: 'aarch64-linux-gnu-gcc' } as const

/** Debian's packages of what compilerFor names, and of the C library that it links. */
const packages = {
  own: 'gcc, libc6-dev',
  x64: 'gcc-x86-64-linux-gnu, libc6-dev-amd64-cross',
  arm64: 'gcc-aarch64-linux-gnu, libc6-dev-arm64-cross',
} as const

interface Compiler {
  readonly program: string
  readonly packages: string
}

/** The C compiler of this machine that makes executables for an architecture, whether it is there or not. */
export const compilerFor = (architecture: Architecture): Compiler =>
  architecture === hostArchitecture
    ? { program: 'cc', packages: packages.own }
    : { program: crossCompilers[architecture], packages: packages[architecture] }

export const canRun = (program: string): boolean =>
  spawnSync(program, ['--version'], { stdio: 'ignore' }).status === 0

export function compilerVersion(program: string): string {
  const { stdout } = spawnSync(program, ['-dumpfullversion'], { encoding: 'utf8' })
  return stdout.trim()
}

/** Version of the GNU C library that a compiler links. */
export function libcVersion(program: string): string {
  const { stdout } = spawnSync(program, ['-E', '-dM', '-x', 'c', '-'], {
    input: '#include <features.h>\n',
    encoding: 'utf8',
  })
  const [, major] = /^#define __GLIBC__ (\d+)$/m.exec(stdout) ?? []
  const [, minor] = /^#define __GLIBC_MINOR__ (\d+)$/m.exec(stdout) ?? []
  if (major === undefined || minor === undefined) throw new Error(`${program} has no GNU C library`)
  return `${major}.${minor}`
}
