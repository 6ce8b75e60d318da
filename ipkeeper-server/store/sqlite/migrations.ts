/** Sets a column in all rows of a table, some of them at a time: what a function of ours computes is let go of between. */
export interface Filling {
  readonly table: string
  readonly set: string
  /** Columns of the primary key, with values that are before those of any row. */
  readonly key: Readonly<Record<string, string | number>>
}

/**
 * Numbered steps of the database layout; PRAGMA user_version says how many were applied. A step is never edited once
 * released: a change of layout is a new step. Functions that a step calls are those of row-sum.ts and seal.ts.
 */
export const migrations: readonly (readonly (string | Filling)[])[] = [
  [
    `CREATE TABLE record (
     kind TEXT NOT NULL,
     key TEXT NOT NULL,
     generation INTEGER NOT NULL,
     body TEXT NOT NULL,
     PRIMARY KEY (kind, key)
   ) STRICT, WITHOUT ROWID`,
  ],
  // `ends`: from when on the entry says nothing of the present; null when only a newer one can say so. Leases that are
  // there get the entry that would have begun their tenure.
  [
    `CREATE TABLE history (
     id INTEGER PRIMARY KEY,
     segment TEXT NOT NULL,
     address TEXT NOT NULL,
     at INTEGER NOT NULL,
     ends INTEGER,
     body TEXT NOT NULL
   ) STRICT;
   CREATE INDEX history_of_address ON history (segment, address);
   INSERT INTO history (segment, address, at, ends, body)
     SELECT body ->> '$.segment', body ->> '$.address', body ->> '$.since', body ->> '$.until', json_object(
       'event', body -> '$.state',
       'since', body -> '$.since',
       'pool', body -> '$.pool',
       'holder', body -> '$.holder',
       'podUid', body -> '$.podUid',
       'node', body -> '$.node',
       'containerId', json(coalesce(body -> '$.attachment.containerId', 'null')),
       'source', body -> '$.source',
       'until', body -> '$.until'
     ) FROM record WHERE kind = 'lease'`,
  ],
  // Of a store that nodes share (store/shared/journal.ts).
  [
    `CREATE TABLE note (
     kind TEXT NOT NULL,
     key TEXT NOT NULL,
     body TEXT NOT NULL,
     PRIMARY KEY (kind, key)
   ) STRICT, WITHOUT ROWID`,
  ],
  // Checksums of rows, and the seal over all of them (row-sum.ts, seal.ts). The default is the sum of no row.
  [
    `ALTER TABLE record ADD COLUMN sum INTEGER NOT NULL DEFAULT -1;
   ALTER TABLE note ADD COLUMN sum INTEGER NOT NULL DEFAULT -1;
   ALTER TABLE history ADD COLUMN sum INTEGER NOT NULL DEFAULT -1`,
    { table: 'record', set: 'sum = record_sum(kind, key, generation, body)', key: { kind: '', key: '' } },
    { table: 'note', set: 'sum = note_sum(kind, key, body)', key: { kind: '', key: '' } },
    { table: 'history', set: 'sum = history_sum(segment, address, at, ends, body)', key: { id: 0 } },
    `CREATE TABLE seal (
     ledger TEXT NOT NULL,
     commits INTEGER NOT NULL,
     records INTEGER NOT NULL,
     record_sums INTEGER NOT NULL,
     notes INTEGER NOT NULL,
     note_sums INTEGER NOT NULL,
     sum INTEGER NOT NULL
   ) STRICT;
   WITH made AS MATERIALIZED (
     SELECT lower(hex(randomblob(16))) AS ledger,
       EXISTS (SELECT 1 FROM record UNION ALL SELECT 1 FROM note UNION ALL SELECT 1 FROM history) AS commits,
       (SELECT count(*) FROM record) AS records,
       (SELECT coalesce(sum(sum), 0) % 4503599627370496 FROM record) AS record_sums,
       (SELECT count(*) FROM note) AS notes,
       (SELECT coalesce(sum(sum), 0) % 4503599627370496 FROM note) AS note_sums)
   INSERT INTO seal SELECT *, seal_sum(ledger, commits, records, record_sums, notes, note_sums) FROM made`,
  ],
]
