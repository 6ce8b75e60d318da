import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { failedBy } from '../shared/system-code.ts'

/** A checked-in file that is made from sources; scripts/generated-files.ts lists them all. */
export interface GeneratedFile {
  /** Relative to the project's folder. */
  readonly path: string
  /** The whole text it has to have. */
  readonly generate: () => string | Promise<string>
}

const root = join(import.meta.dirname, '..')

/** Writes the file, unless it has that text already. */
export async function writeGenerated(file: GeneratedFile): Promise<void> {
  if (!(await isStale(file))) return
  await writeFile(join(root, file.path), await file.generate())
  console.log(`wrote ${file.path}`)
}

/** Whether the file is missing or has another text than it should. */
export async function isStale(file: GeneratedFile): Promise<boolean> {
  const text = await readFile(join(root, file.path), 'utf8').catch((error: unknown) => {
    if (failedBy(error, 'ENOENT')) return undefined
    throw error
  })
  return text !== (await file.generate())
}
