/**
 * The documentation holds what it says: links lead somewhere, and what it names (error codes, make targets, files,
 * annotations, settings) exists. A page that is wrong is worse than none.
 */
import { existsSync, globSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import t from 'tap'
import { DaemonConfigFile } from '../../ipkeeper-server/config/daemon-config.schema.ts'
import { parseConfig } from '../../ipkeeper-server/config/load-config.ts'
import { readIdentity, readIpamConfig } from '../../ipkeeper-server/ipam/request/network-config.ts'
import { ownWords } from '../../ipkeeper-server/kubernetes/annotations/own-keys.ts'
import { readPodRequest } from '../../ipkeeper-server/kubernetes/annotations/read-pod-request.ts'
import { noRequest } from '../../ipkeeper-server/ipam/request/request.ts'
import { recordKinds, wiringModes } from '../../ipkeeper-server/ipam/records/records.ts'
import { readMainConfig } from '../../ipkeeper-server/network/plan/read-main-config.ts'
import { parseJson } from '../../shared/json/parse-json.ts'
import { isJsonObject } from '../../shared/json/fold.ts'
import { catalogue } from '../../shared/problem/catalogue.ts'
import { callers } from '../rigs/callers.ts'

const root = join(import.meta.dirname, '..', '..')
const read = (path: string): string => readFileSync(join(root, path), 'utf8')

/** Folders of machines, and of other people's files. */
const foreign = /^(node_modules|dist|\.[^/]+)(\/|$)/
const pages = globSync('**/*.md', { cwd: root, exclude: path => foreign.test(path) }).sort()

/** Parts of a page: fenced blocks with their language, and the text outside of them. */
function splitPage(text: string): { prose: string; blocks: { language: string; text: string }[] } {
  const blocks: { language: string; text: string }[] = []
  // A fence inside a list is indented, and so is what it holds.
  const prose = text.replace(
    /^( *)```(\w*)\n([\s\S]*?)^\1```$/gm,
    (_, indent: string, language: string, body: string) => {
      blocks.push({ language, text: body.replaceAll(new RegExp(`^${indent}`, 'gm'), '') })
      return ''
    },
  )
  return { prose, blocks }
}

/** What stands between backquotes. */
const spansOf = (prose: string): string[] =>
  Array.from(prose.matchAll(/`([^`\n]+)`/g), ([, span = '']) => span)

/** The anchor that a heading gets: lower case, punctuation dropped, spaces to hyphens. */
const anchorOf = (heading: string): string =>
  heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-')

function anchorsOf(path: string): string[] {
  const { prose } = splitPage(read(path))
  return Array.from(prose.matchAll(/^#+ +(.+)$/gm), ([, heading = '']) => anchorOf(heading))
}

/** Cells of every table row below a heading, up to the next heading of any level. */
function rowsBelow(path: string, heading: string): string[][] {
  const { prose } = splitPage(read(path))
  const section = prose.split(/^#+ +/m).find(part => part.startsWith(`${heading}\n`)) ?? ''
  return section
    .split('\n')
    .filter(line => line.startsWith('| '))
    .map(line =>
      line
        .split('|')
        .slice(1, -1)
        .map(cell => cell.trim()),
    )
}

const wanted = [
  ...['README.md', 'DESIGN.md', 'CONTRIBUTING.md', 'CHANGELOG.md', 'SECURITY.md'],
  ...['docs/operations/running-by-hand.md', 'docs/guides/main-plugin.md'],
]
t.strictSame(
  wanted.filter(path => !pages.includes(path)),
  [],
  'the pages that people look for are there',
)

t.test('links within the repository lead somewhere', t => {
  for (const page of pages) {
    const { prose } = splitPage(read(page))
    const links = prose.replaceAll(/`[^`\n]*`/g, '').matchAll(/\]\(([^)\s]+)\)/g)
    for (const [, link = ''] of links) {
      if (/^[a-z]+:/.test(link)) continue
      const [path = '', anchor] = link.split('#')
      const target = path === '' ? page : normalize(join(dirname(page), path))
      t.ok(existsSync(join(root, target)), `${page}: ${link}`)
      if (anchor !== undefined && target.endsWith('.md'))
        t.ok(anchorsOf(target).includes(anchor), `${page}: heading of ${link}`)
    }
  }
  t.end()
})

t.test('the index of the documentation leads to every page of it', t => {
  const indexes = pages.filter(page => /^docs\/([^/]+\/)?README\.md$/.test(page))
  const linked = new Set(
    indexes.flatMap(index =>
      Array.from(read(index).matchAll(/\]\(([^)\s#]+)/g), ([, link = '']) =>
        normalize(join(dirname(index), link)),
      ),
    ),
  )
  t.ok(linked.size > 50, 'the links were found')
  t.strictSame(
    pages.filter(page => page.startsWith('docs/') && page !== 'docs/README.md' && !linked.has(page)),
    [],
  )
  t.end()
})

t.test('error codes are those of the catalogue', t => {
  for (const page of pages) {
    const codes = new Set(Array.from(read(page).matchAll(/\bIPK_[A-Z_]*[A-Z]\b/g), ([code]) => code))
    t.strictSame(
      // A variable of the environment.
      [...codes].filter(code => code !== 'IPK_NETLINK' && !Object.hasOwn(catalogue, code)),
      [],
      page,
    )
  }
  t.end()
})

t.test('make targets exist', t => {
  const targets = Array.from(read('Makefile').matchAll(/^([a-z][a-z-]*):/gm), ([, target]) => target)
  for (const page of pages) {
    const { prose, blocks } = splitPage(read(page))
    // In prose "make" is a word; as code it is the program.
    const code = [...spansOf(prose), ...blocks.flatMap(block => block.text.split('\n'))]
    for (const text of code) {
      const words = /^(?:\$ )?make\b(.*)$/.exec(text.trim())?.[1]?.replace(/#.*/, '').split(/\s+/) ?? []
      for (const word of words) {
        if (!/^[a-z][a-z-]*$/.test(word)) continue
        t.ok(targets.includes(word), `${page}: make ${word}`)
      }
    }
  }
  t.end()
})

t.test('files that are named exist', t => {
  const ours = /^(plugin|ipkeeper-server|shared|scripts|test|bench|deploy|docs)\/[\w./-]*$/
  const source = /^[a-z][\w-]*\/[\w./-]*\.ts$/
  for (const page of pages) {
    const missing = spansOf(splitPage(read(page)).prose)
      .filter(span => ours.test(span) || source.test(span))
      .filter(path => !existsSync(join(root, path)))
    t.strictSame(missing, [], page)
  }
  t.end()
})

t.test('the table of annotations is what the daemon reads', t => {
  const rows = rowsBelow('README.md', 'Annotations').flatMap(([key, value]): [string, string][] => {
    const [name] = spansOf(key ?? '')
    const [example] = spansOf(value ?? '')
    return name === undefined || example === undefined ? [] : [[name, example]]
  })
  t.ok(rows.length >= 3)
  for (const [key, example] of rows) {
    const [, ifname = 'eth0'] = /^ipkeeper\.io\/[a-z]+\.(.+)$/.exec(key) ?? []
    const podAnnotations = { [key]: example }
    const request = readPodRequest({ podAnnotations, namespace: undefined, ifname, dialects: new Set() })
    t.notSame(request, noRequest, `${key}: ${example} asks for something`)
  }
  for (const word of ownWords) {
    t.ok(
      rows.some(([name]) => name === `ipkeeper.io/${word}`),
      `ipkeeper.io/${word} is in the table`,
    )
  }
  t.end()
})

t.test("the table of the daemon's settings has every key of its file, and no other", t => {
  const keys = rowsBelow('docs/reference/settings.md', "The daemon's file").flatMap(([cell]) =>
    spansOf(cell ?? ''),
  )
  t.strictSame(keys.sort(), Object.keys(DaemonConfigFile.properties).sort())
  t.end()
})

t.test("examples of the daemon's file are accepted", t => {
  let examples = 0
  for (const page of pages) {
    for (const { language, text } of splitPage(read(page)).blocks) {
      const [, first = ''] = /^(\w+):/.exec(text) ?? []
      if (language !== 'yaml' || !Object.hasOwn(DaemonConfigFile.properties, first)) continue
      examples++
      t.doesNotThrow(() => parseConfig(text, page), page)
    }
  }
  t.ok(examples >= 2)
  t.end()
})

t.test('examples in JSON are JSON, and conflists are accepted', t => {
  for (const page of pages) {
    for (const block of splitPage(read(page)).blocks) {
      if (block.language !== 'json') continue
      const value = parseJson(block.text)
      if (!isJsonObject(value) || !Array.isArray(value['plugins'])) continue
      const { cniVersion, name } = value
      const plugin: unknown = value['plugins'][0]
      if (!isJsonObject(plugin)) throw new Error(`${page}: a conflist without plugins`)
      const config = { ...plugin, cniVersion, name }
      const identity = readIdentity(config)
      t.doesNotThrow(() => readIpamConfig(config, identity), page)
      if (identity.mainRole) t.doesNotThrow(() => readMainConfig(config), page)
    }
  }
  t.end()
})

t.test('the README and the page on the main plugin have every mode, and no other', t => {
  const page = 'docs/guides/main-plugin.md'
  const modes = rowsBelow('README.md', 'Which mode carries an address where').flatMap(([cell]) =>
    spansOf(cell ?? ''),
  )
  t.strictSame(modes.sort(), [...wiringModes].sort())
  const exampleModes = splitPage(read(page)).blocks.flatMap(({ language, text }) => {
    if (language !== 'json') return []
    const { plugins } = parseJson(text) as { plugins: readonly { mode?: string }[] }
    return plugins[0]?.mode ?? []
  })
  t.strictSame(
    wiringModes.filter(mode => !exampleModes.includes(mode)),
    [],
    'an example of each mode',
  )
  t.end()
})

t.test('the callers that the overview says were tried are those of the tests', t => {
  const modules = {
    cnitool: 'github.com/containernetworking/cni',
    'go-cni': 'github.com/containerd/go-cni',
    'reference plugins': 'github.com/containernetworking/plugins',
    containerd: 'github.com/containerd/containerd/v2',
  }
  const text = read('docs/guides/overview.md').replaceAll(/\s+/g, ' ')
  for (const [name, module] of Object.entries(modules))
    t.match(text, `${name} ${callers.versionOf(module)}`, `${name} as in scripts/callers/go.mod`)
  t.end()
})

t.test('the README types what the page on containerd does, which is typed by a test', t => {
  const tried = splitPage(read('docs/install/containerd.md')).blocks.map(({ text }) => text)
  const start = read('README.md').split('## Five-minute start\n')[1]?.split(/^## /m)[0] ?? ''
  const { blocks } = splitPage(start)
  t.ok(blocks.length >= 6)
  for (const { text } of blocks) t.ok(tried.includes(text), text)
  t.end()
})

t.test('the drawings of DESIGN.md name folders and files that exist, and every folder of the daemon', t => {
  const drawings = splitPage(read('DESIGN.md')).blocks.filter(({ language }) => language === 'mermaid')
  t.equal(drawings.length, 2)
  const named = drawings.flatMap(({ text }) =>
    Array.from(text.matchAll(/\b(?:plugin|shared|ipkeeper-server)\/[\w./-]*/g), ([path]) => path),
  )
  t.strictSame(
    named.filter(path => !existsSync(join(root, path))),
    [],
  )
  const folders = globSync('ipkeeper-server/*/', { cwd: root }).map(path => `${path.replace(/\/$/, '')}/`)
  t.ok(folders.length > 15)
  t.strictSame(
    folders.filter(folder => !named.some(path => path.startsWith(folder))),
    [],
  )
  t.end()
})

t.test('rules that the sources cite are rules of DESIGN.md, and its records are those of the store', t => {
  const rules = rowsBelow('DESIGN.md', 'Promises')
    .map(([number]) => number)
    .slice(1)
  const sources = globSync('{plugin,shared,ipkeeper-server,test}/**/*.ts', { cwd: root })
  const cited = sources.flatMap(path =>
    Array.from(read(path).matchAll(/DESIGN\.md, rules? (\d+)(?:\s*(?:to|and)\s*(\d+))?/g), match => ({
      path,
      numbers: match.slice(1).filter(Boolean),
    })),
  )
  t.ok(cited.length > 5)
  for (const { path, numbers } of cited)
    t.ok(
      numbers.every(number => rules.includes(number)),
      `${path}: rule ${numbers.join(', ')}`,
    )
  t.strictSame(
    rowsBelow('DESIGN.md', 'Records and the store')
      .map(([kind]) => kind)
      .slice(1),
    recordKinds,
  )
  t.end()
})

t.test('nothing of one machine or one download site', t => {
  const notOurs = [
    /\/work\//,
    /\bnpmjs\b/,
    /\b(docker|ghcr|quay|gcr|k8s\.gcr)\.io\b/,
    /\bregistry\.[a-z]+\.[a-z]+/,
  ]
  for (const page of pages) {
    for (const pattern of notOurs) t.notMatch(read(page), pattern, `${page}: ${String(pattern)}`)
  }
  t.end()
})
