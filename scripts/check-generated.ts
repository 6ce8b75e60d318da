/**
 * Exits 1 when a generated file is not what its sources make of it, and names it. Writes nothing.
 *
 *   node scripts/check-generated.ts
 */
import { isStale } from './write-generated.ts'
import { generatedFiles } from './generated-files.ts'

for (const file of generatedFiles) {
  if (!(await isStale(file))) continue
  console.error(`${file.path} is stale: its sources have changed. Run: make generate`)
  process.exitCode = 1
}
