import { registerHooks } from 'node:module'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

/** A place in the product, as it is and as it was. */
export interface Mend {
  /** From the root of the repository. */
  readonly file: string
  /** Is there exactly once. */
  readonly from: string
  readonly to: string
}

const root = join(import.meta.dirname, '..', '..')

/** The text as it was. */
export function unmended(text: string, { file, from, to }: Mend): string {
  const parts = text.split(from)
  if (parts.length !== 2)
    throw new Error(`${file} has ${parts.length - 1} times, and not once: ${JSON.stringify(from)}`)
  return parts.join(to)
}

/** Undoes a mend in what is imported from here on; nothing on the disk changes. */
export function putBack(mend: Mend): void {
  const meant = pathToFileURL(join(root, mend.file)).href
  registerHooks({
    load: (url, context, nextLoad) => {
      const loaded = nextLoad(url, context)
      if (url !== meant) return loaded
      const { source } = loaded
      const text = typeof source === 'string' ? source : new TextDecoder().decode(source ?? undefined)
      return { ...loaded, source: unmended(text, mend) }
    },
  })
}
