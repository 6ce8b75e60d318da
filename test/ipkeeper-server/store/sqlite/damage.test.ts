import t from 'tap'
import { rescueHint } from '../../../../ipkeeper-server/store/sqlite/damage.ts'

t.test('what is advised can be typed, whatever the file is called', t => {
  for (const [path, word] of [
    ['/var/lib/ipkeeper/leases.db', 'sqlite:/var/lib/ipkeeper/leases.db'],
    ["/d/it's (a) file; x.db", "'sqlite:/d/it'\\''s (a) file; x.db'"],
  ] as const)
    t.match(rescueHint(path), `ipkeeperctl rescue --store ${word}; see `)
  t.end()
})
