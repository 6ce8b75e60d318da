import type { Row } from '../row.ts'

const loading = 'libcni and the runtimes read conflists; a plugin sees the entry that is its own'
const writing = 'libcni writes the result cache, the plugin never sees it'

export const cacheRows: readonly Row[] = [
  { id: 'J1', title: 'how a folder of configurations is read', notTested: loading },
  { id: 'J2', title: 'what each runtime makes of a bad file', notTested: loading },
  { id: 'J3', title: 'switches of a conflist', notTested: loading },
  { id: 'J4', title: 'where the result cache is, and what is in it', notTested: writing },
  { id: 'J5', title: 'the cache is not written atomically', notTested: writing },
  {
    id: 'J6',
    title: 'a broken cache reaches the plugin as a DEL without prevResult, or with an empty one',
    see: ['G3'],
  },
  { id: 'J7', title: 'caches of old libraries', notTested: writing },
  {
    id: 'J8',
    title: 'which library is in which runtime',
    notTested: 'a list of facts; what each of them sends is in G3 and G10',
  },
  {
    id: 'K',
    title:
      'what JavaScript does otherwise than Go shows nowhere: case of keys, integers, white space, lengths in bytes, one write to stdout, a quick start',
    see: ['A3', 'A11', 'B3', 'B9', 'C6', 'E2'],
    elsewhere: [
      'test/packaged/plugin.test.ts',
      'test/shared/cni/identifiers.test.ts',
      'test/ipkeeper-server/network/pod/attachment-liveness.test.ts',
      'test/bench/bench.test.ts',
    ],
  },
]
