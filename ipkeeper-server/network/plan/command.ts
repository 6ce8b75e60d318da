/** One command of `ip`, to be run in the host's namespace or in the pod's. Times and sizes are those of `ip`. */
export interface Command {
  readonly place: 'host' | 'pod'
  /** For what `ip` cannot say: VLANs of ports. Default: "ip". */
  readonly tool?: 'bridge'
  /** The words after `ip`. Each is a word of the batch's language by itself; see writeBatch. */
  readonly words: readonly string[]
  /** What it does, for the error: "give eth0 its address 10.22.0.50/16". */
  readonly about: string
  /** "fine": it is no fault when the kernel says that it exists already. */
  readonly existing?: 'fine'
  /** "fine": it is no fault when the thing is not there. */
  readonly missing?: 'fine'
  /** "fine": it is no fault when the kernel, or this link, knows nothing of the matter. */
  readonly unsupported?: 'fine'
  /** What a kernel may have been built without. */
  readonly needs?: 'vlan-filtering'
}

const plainWord = /^[A-Za-z0-9_.:/@%+=,-]+$/
const quotedWord = /^[A-Za-z0-9_.:/@%+=, -]+$/

/** How `ip` takes a link by its index: where its name, that a pod may have chosen, cannot be a word of a batch. */
export function linkWord({ name, index }: { readonly name: string; readonly index: number }): string {
  return plainWord.test(name) ? name : `if${index}`
}

function writeWord(word: string): string {
  if (plainWord.test(word)) return word
  // Nothing of what reaches here comes unchecked; this is the last line.
  if (!quotedWord.test(word)) throw new Error(`${JSON.stringify(word)} cannot be a word of an ip batch`)
  return `"${word}"`
}

/** The text of `ip -batch -`: one line for each command. */
export function writeBatch(commands: readonly Command[]): string {
  return commands.map(({ words }) => `${words.map(writeWord).join(' ')}\n`).join('')
}

/** By which a program that was started knows the namespace that was handed to it as its file descriptor 3. */
export const inheritedNamespace = '/proc/self/fd/3'

/** Those that JSON wants escaped within a string, without those that `ip` escapes itself. */
const control = /[\u0000-\u0008\u000b\u000c\u000e-\u001f]/g

/**
 * The output of `ip -json` as JSON. A name or alias may hold control characters, which `ip` prints as they are; whoever
 * may change links in a pod chooses them there.
 */
export function escapeIpJson(text: string): string {
  return text.replace(control, found => `\\u${found.charCodeAt(0).toString(16).padStart(4, '0')}`)
}
