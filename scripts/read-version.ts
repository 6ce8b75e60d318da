import { readFileSync } from 'node:fs'
import { join } from 'node:path'

/** The version every artefact is stamped with: that of package.json; IPKEEPER_VERSION has the last word, for trials. */
export function readVersion(): string {
  const path = join(import.meta.dirname, '..', 'package.json')
  const manifest = JSON.parse(readFileSync(path, 'utf8')) as { version: string }
  return process.env['IPKEEPER_VERSION'] || manifest.version
}
