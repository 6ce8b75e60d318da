import { memberOf } from '../json/json-node.ts'
import type { LintRule } from '../lint-rule.ts'
import { renameLine } from '../rename-line.ts'
import { spotOf, topOf } from '../site.ts'

export const unreadableFile: LintRule = {
  id: 'unreadable-file',
  severity: 'error',
  summary:
    'A file that cannot be read: no permission, too large, not a regular file, changed while it was read; a link out of the folder, which is a warning.',
  *check({ files }) {
    for (const file of files) {
      if (!file.fault) continue
      const { why, severity } = file.fault
      const remedy = 'put a regular, readable file there, or remove it'
      yield { at: topOf(file), message: `the file was not checked: ${why}`, remedy, severity }
    }
  },
}

export const brokenEncoding: LintRule = {
  id: 'broken-encoding',
  severity: 'warning',
  summary:
    'Bytes that are not UTF-8. Go reads each as U+FFFD, so names and paths are not what they look like.',
  *check({ files }) {
    for (const file of files) {
      const start = file.text?.indexOf('\ufffd') ?? -1
      if (start < 0) continue
      yield {
        at: { file, start, end: start + 1 },
        message: 'bytes that are not UTF-8 begin here',
        remedy: 'save the file as UTF-8',
      }
    }
  },
}

export const yamlSyntax: LintRule = {
  id: 'yaml-syntax',
  severity: 'error',
  summary:
    'A manifest that is not valid YAML, such as one indented with tabs. Positions are those of the YAML file.',
  *check({ files }) {
    for (const file of files) {
      for (const { start, end, message, remedy } of file.yaml?.faults ?? [])
        yield { at: { file, start, end }, message, remedy }
    }
  },
}

const remedy = 'write it as JSON; in a ConfigMap as text, after "|"'

export const conflistAsYaml: LintRule = {
  id: 'conflist-as-yaml',
  severity: 'error',
  summary:
    'A network configuration written as YAML. Runtimes read JSON only, and the data of a ConfigMap are strings.',
  *check({ files }) {
    for (const file of files) {
      if (file.isRuntimeFile && file.yaml)
        yield { at: topOf(file), message: 'the file is YAML; runtimes read JSON only', remedy }
      for (const { start } of file.yaml?.plainConfigs ?? []) {
        yield {
          at: { file, start, end: start + 1 },
          message: 'a network configuration as YAML; runtimes read JSON only',
          remedy,
        }
      }
    }
  },
}

export const notAnObject: LintRule = {
  id: 'not-an-object',
  severity: 'error',
  summary: 'A document that is JSON, but not an object.',
  *check({ files }) {
    for (const document of files.flatMap(({ documents }) => documents)) {
      const { root } = document
      if (!root || root.kind === 'object' || root.kind === 'unknown') continue
      const what = root.kind === 'array' ? 'a list' : root.kind === 'null' ? 'null' : `a ${root.kind}`
      yield {
        at: spotOf(document, { start: root.start, end: root.start + 1 }),
        message: `the configuration is ${what}, not an object`,
        remedy:
          root.kind === 'array'
            ? 'write { "cniVersion": ..., "name": ..., "plugins": [...] }'
            : 'write { ... }',
      }
    }
  },
}

export const listInConf: LintRule = {
  id: 'list-in-conf',
  severity: 'error',
  summary:
    'A list of plugins in a `.conf` or `.json` file, which hold one plugin. The runtime says "missing \'type\'" and stops.',
  *check({ networks }) {
    for (const { document, root, shape } of networks) {
      const { name } = document.file
      const plugins = memberOf(root, 'plugins')
      if (document.standing !== 'runtime' || shape !== 'list' || !plugins || !/\.(?:conf|json)$/.test(name))
        continue
      yield {
        at: spotOf(document, plugins.keySpan),
        message: `a list of plugins in a file for one plugin (${name.slice(name.lastIndexOf('.'))})`,
        remedy: `rename the file: ${renameLine(document.file, name.replace(/\.[^.]*$/, '.conflist'))}`,
      }
    }
  },
}

export const singleInConflist: LintRule = {
  id: 'single-in-conflist',
  severity: 'error',
  summary:
    'One plugin in a `.conflist` file, which holds a list. The runtime says "no \'plugins\' key" and stops.',
  *check({ networks }) {
    for (const { document, root, shape } of networks) {
      const type = memberOf(root, 'type')
      if (document.standing !== 'runtime' || shape !== 'single' || !type) continue
      if (!document.file.name.endsWith('.conflist')) continue
      yield {
        at: spotOf(document, type.keySpan),
        message: 'one plugin in a file for a list (.conflist)',
        remedy: 'put the plugin into "plugins": [{ ... }], next to "cniVersion" and "name"',
      }
    }
  },
}
