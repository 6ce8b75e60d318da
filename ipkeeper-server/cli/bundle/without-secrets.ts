import { isJsonObject } from '../../../shared/json/fold.ts'

/** What stands in the place of a secret. */
export const removed = '(removed)'

const secretWords =
  /passw(?:or)?d|passphrase|pwd|secret|token|credential|api[-_]?key|private[-_]?key|key[-_]?data|authorization/i

/** What says where a secret is, or what kind of one it is, is none: "passwordFile", "secretName". */
const namesOfSecrets = /(?:files?|paths?|dir|names?|namespace|ref|types?|mode|kind|ttl|seconds|expir\w*)$/i

/** Whether the value of a key of this name is a secret. */
export const isSecretName = (name: string): boolean => secretWords.test(name) && !namesOfSecrets.test(name)

/** Shorter values are words of other texts as well, and are replaced only where they stand in quotes. */
const shortest = 6

/** The secrets of decoded JSON or YAML: whatever is below a key of such a name. */
export function secretsIn(value: unknown, isSecret = false): readonly string[] {
  if (Array.isArray(value)) return value.flatMap(item => secretsIn(item, isSecret))
  if (isJsonObject(value))
    return Object.entries(value).flatMap(([key, below]) => secretsIn(below, isSecret || isSecretName(key)))
  if (!isSecret) return []
  return typeof value === 'string' || typeof value === 'number' ? [String(value)] : []
}

/** A key of JSON or YAML with a value behind it, also where the text is broken; the value ends with its quote or its line. */
const loosePair =
  /(?<![\w.-])([\w.-]+)(\\?["']?[ \t]*[:=][ \t]*)("(?:[^"\\\n]|\\.)*"?|'[^'\n]*'?|\\"[^\n]*?\\"|[^\s,}\]"'][^\n,}\]]*)/g

/** The secrets of a text that may be no document at all. */
export function secretsInText(text: string): readonly string[] {
  return Array.from(text.matchAll(loosePair), ([, key = '', , value = '']) =>
    isSecretName(key) ? [value.replaceAll(/^\\?["']|\\?["']$/g, '').trim()] : [],
  ).flat()
}

/**
 * Keys with values, as JSON, JSON within JSON, YAML, words of a command line and of a URL have them. A key has its limit, since
 * a text without an end to it would be read anew from each of its quotes.
 */
const pairs: readonly RegExp[] = [
  /"((?:[^"\\\n]|\\.){0,200})"(\s*:\s*)("(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*)/g,
  /\\"([^"\\\n]*)\\"(\s*:\s*)(\\"[^\n]*?\\"(?=\s*[,}\]]))/g,
  /^[ \t]*(?:- )?([\w.-]+)(:[ \t]+)(\S.*)$/gm,
  /(?<![\w.-])([\w.-]+)(=)("[^"\n]*"|'[^'\n]*'|\(removed\)[^\s"'&;,)}]*|[^\s"'&;,)}]+)/g,
  /(?<![\w-])(--[\w-]+)([ \t]+)([^\s"'-]\S*)/g,
]

/** Whatever the key is: keys in PEM, credentials of URLs and requests, JSON web tokens. */
const shapes: readonly (readonly [RegExp, string])[] = [
  [
    /-----BEGIN ([A-Z0-9 ]*PRIVATE KEY)-----[\s\S]*?(?:-----END \1-----|$)/g,
    `-----BEGIN $1----- ${removed} -----END $1-----`,
  ],
  [/\b([a-z][a-z0-9+.-]{0,20}:\/\/)[^\s/"'<>]*@/gi, `$1${removed}@`],
  [/\b(authorization\\?["']?\s*[:=]\s*\\?["']?)[^"'\\\n]+/gi, `$1${removed}`],
  [/\b(bearer\s+)[\w.~+/=-]{16,}/gi, `$1${removed}`],
  [/\beyJ[\w-]{8,9999}\.[\w-]{8,9999}\.[\w-]*/g, removed],
]

/** A quoted value stays quoted, so that JSON stays JSON. */
function removedValue(value: string): string {
  const [, quote = ''] = /^(\\?["'])/.exec(value) ?? []
  return quote === '' && /^-?\d/.test(value) ? `"${removed}"` : `${quote}${removed}${quote}`
}

const isRemoved = /^\\?["']?\(removed\)\\?["']?$/

function withoutPairs(text: string, pattern: RegExp): string {
  return text.replace(pattern, (whole: string, key: string, between: string, value: string) =>
    isSecretName(key) && !isRemoved.test(value)
      ? `${whole.slice(0, whole.length - between.length - value.length)}${between}${removedValue(value)}`
      : whole,
  )
}

const blockHead = /^([ \t]*(?:- )*)([\w.-]+):[ \t]*[|>][-+\d]*[ \t]*$/

/** A key of YAML whose text stands in the lines below it: "token: |". */
function withoutBlocks(text: string): string {
  if (!/[|>][-+\d]*[ \t]*$/m.test(text)) return text
  let depth: number | undefined
  const kept = text.split('\n').flatMap(line => {
    const indent = line.search(/\S/)
    if (depth !== undefined && (indent < 0 || indent > depth)) return []
    depth = undefined
    const [, before = '', key = ''] = blockHead.exec(line) ?? []
    if (!isSecretName(key)) return [line]
    depth = before.length
    return [`${before}${key}: ${removed}`]
  })
  return kept.join('\n')
}

/** As it stands in text, and as it stands in JSON. */
const formsOf = (secret: string): readonly string[] => {
  const once = JSON.stringify(secret).slice(1, -1)
  const twice = JSON.stringify(once).slice(1, -1)
  return [secret, once, twice, encodeURIComponent(secret.toWellFormed())]
}

function withoutKnown(text: string, secrets: readonly string[]): string {
  const forms = [...new Set(secrets.flatMap(formsOf))].filter(form => form !== '' && form !== removed)
  return forms
    .sort((a, b) => b.length - a.length)
    .reduce(
      (rest, form) =>
        form.length < shortest
          ? rest.replaceAll(`"${form}"`, `"${removed}"`).replaceAll(`\\"${form}\\"`, `\\"${removed}\\"`)
          : rest.replaceAll(form, removed),
      text,
    )
}

/**
 * A text without passwords, tokens and private keys. What is in the way of a reader is better than a secret that is not.
 *
 * @param secrets values that are known to be such, wherever they stand
 * @param isLoose whether the text is one that people write, with mistakes that hide where a value ends
 */
export function withoutSecrets(text: string, secrets: readonly string[], isLoose = false): string {
  const known = withoutKnown(text, secrets)
  const shaped = shapes.reduce((rest, [pattern, instead]) => rest.replace(pattern, instead), known)
  const paired = pairs.reduce(withoutPairs, withoutBlocks(shaped))
  return isLoose ? withoutPairs(paired, loosePair) : paired
}
