import { showJson, type JsonObject } from '../../../shared/json/fold.ts'
import { Problem } from '../../../shared/problem/problem.ts'
import { misspeltWord } from '../../../shared/text/nearest-word.ts'

/**
 * Foreign keys are nobody's business (catalogue C7); one that is a letter away from ours is a mistake that does harm.
 * `path` is where the object is in the configuration, '' for the configuration itself.
 *
 * @throws Problem IPK_CONFIG_INVALID that names the key and the one that was meant
 */
export function refuseMisspelt(object: JsonObject, known: readonly string[], path: string): void {
  for (const key of Object.keys(object)) {
    const meant = misspeltWord(key, known)
    if (meant === undefined) continue
    const place = path === '' ? '' : `${path}: `
    throw new Problem('IPK_CONFIG_INVALID', `${place}unknown key ${showJson(key)}; did you mean "${meant}"?`)
  }
}
