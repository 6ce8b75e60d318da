import t from 'tap'
import { isMarkName } from '../../shared/mark-name.ts'

const names: readonly (readonly [why: string, name: string, ok: boolean])[] = [
  ['an UUID', '0b8f5d0e-8a4e-4b62-9d5e-6b3a4ad0f3c1', true],
  ['the longest one', 'a'.repeat(128), true],
  ['one that is longer', 'a'.repeat(129), false],
  ['no name', '', false],
  ['the folder itself', '.', false],
  ['the folder above', '..', false],
  ['a path', 'a/b', false],
  ['what a file system may not tell apart', 'ABC', false],
]
for (const [why, name, ok] of names) t.equal(isMarkName(name), ok, why)
