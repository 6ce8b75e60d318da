/**
 * Bundles the page of the daemon (ipkeeper-server/http/page/client) to the files that browsers ask for. Not a program: the build
 * puts them into dist/ipkeeper-server, tests serve them from here.
 */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { build } from 'esbuild'
import type { PageFiles } from '../ipkeeper-server/http/page/page-files.ts'

const root = join(import.meta.dirname, '..')
const folder = join(root, 'ipkeeper-server', 'http', 'page', 'client')

/** By their paths; the same bytes on every machine. */
export async function bundlePage(): Promise<PageFiles> {
  const result = await build({
    entryPoints: [join(folder, 'main.ts'), join(folder, 'page.css')],
    absWorkingDir: root,
    outdir: 'page',
    bundle: true,
    platform: 'browser',
    // What browsers understood in the year before the first version of the page.
    target: ['chrome120', 'firefox120', 'safari17'],
    format: 'iife',
    minify: true,
    charset: 'ascii',
    legalComments: 'none',
    logLevel: 'warning',
    write: false,
  })
  const textOf = (suffix: string): string => {
    const file = result.outputFiles.find(({ path }) => path.endsWith(suffix))
    if (!file) throw new Error(`esbuild made no ${suffix}`)
    return file.text
  }
  const read = (name: string): Promise<string> => readFile(join(folder, name), 'utf8')
  return {
    '/': { type: 'text/html; charset=utf-8', text: await read('page.html') },
    '/page.js': { type: 'text/javascript; charset=utf-8', text: textOf('main.js') },
    '/page.css': { type: 'text/css; charset=utf-8', text: textOf('page.css') },
    '/icon.svg': { type: 'image/svg+xml', text: await read('icon.svg') },
  }
}
