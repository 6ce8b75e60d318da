import t from 'tap'
import { shellLine, shellWord } from '../../../shared/text/shell-word.ts'

const words: readonly (readonly [name: string, word: string, typed: string])[] = [
  ['a plain word stays as it is', '/var/lib/ipkeeper', '/var/lib/ipkeeper'],
  ['an address with its prefix', 'fd00::5/64', 'fd00::5/64'],
  ['a space', 'two words', "'two words'"],
  ['what a shell would replace', '$HOME', "'$HOME'"],
  ['a quote', "it's", "'it'\\''s'"],
  ['a word without letters', '', "''"],
]
for (const [name, word, typed] of words) t.equal(shellWord(word), typed, name)

t.equal(
  shellLine(['ipkeeperctl', 'reserve', '10.22.0.50', 'shop/web 0']),
  "ipkeeperctl reserve 10.22.0.50 'shop/web 0'",
)
