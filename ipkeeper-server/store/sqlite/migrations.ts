/**
 * Numbered steps of the database layout; PRAGMA user_version says how many were applied. A step is never edited once
 * released: a change of layout is a new step.
 */
export const migrations: readonly string[] = [
  `CREATE TABLE record (
     kind TEXT NOT NULL,
     key TEXT NOT NULL,
     generation INTEGER NOT NULL,
     body TEXT NOT NULL,
     PRIMARY KEY (kind, key)
   ) STRICT, WITHOUT ROWID`,
  // `ends`: from when on the entry says nothing of the present; null when only a newer one can say so. Leases that are
  // there get the entry that would have begun their tenure.
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
  // Of a store that nodes share (store/shared/journal.ts).
  `CREATE TABLE note (
     kind TEXT NOT NULL,
     key TEXT NOT NULL,
     body TEXT NOT NULL,
     PRIMARY KEY (kind, key)
   ) STRICT, WITHOUT ROWID`,
]
