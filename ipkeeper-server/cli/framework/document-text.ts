import { stringify } from 'yaml'

/** DEL and the C1 controls as escapes of JSON, which leaves them as they are, and a terminal would obey them. */
const escaped = (text: string): string =>
  text.replaceAll(/[\u007f-\u009f]/g, found => `\\u00${found.charCodeAt(0).toString(16)}`)

/** One JSON document: indented, or on one line. */
export function jsonText(data: unknown, indent: number): string {
  return `${escaped(JSON.stringify(data, null, indent))}\n`
}

/**
 * One YAML document with the same keys. Texts with controls stand in double quotes, where JSON's escapes are YAML's too;
 * what a reader of YAML 1.1 would take for a number, a truth or a time is quoted as well.
 */
export function yamlText(data: unknown): string {
  return escaped(stringify(data, { version: '1.1', lineWidth: 0, doubleQuotedAsJSON: true }))
}
