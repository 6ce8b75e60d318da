/** Those that JSON wants escaped within a string, without those that `ip` escapes itself. */
const control = /[\u0000-\u0008\u000b\u000c\u000e-\u001f]/g

/**
 * The output of `ip -json` as JSON. A name or alias may hold control characters, which `ip` prints as they are; whoever
 * may change links in a pod chooses them there.
 */
export function escapeIpJson(text: string): string {
  return text.replace(control, found => `\\u${found.charCodeAt(0).toString(16).padStart(4, '0')}`)
}
