import type { DatabaseSync } from 'node:sqlite'
import { pathToFileURL } from 'node:url'
import { Worker } from 'node:worker_threads'

/** Findings that are read. */
const mostFindings = 5

/** The first findings of SQLite's own look at pages, indexes and the free list; empty when it has none. */
export function integrityFindings(database: DatabaseSync): readonly string[] {
  const rows = database.prepare(`PRAGMA integrity_check(${mostFindings})`).all()
  const findings = rows.map(row => String(row['integrity_check']).replaceAll('\n', ' '))
  return findings.length === 1 && findings[0] === 'ok' ? [] : findings
}

/**
 * What the thread runs: it is a text, since the executable is one file. The database alone is looked at, without its log and
 * without a lock (immutable), so nobody may change it meanwhile. SQLite itself sees to it that closing it drops no lock of this
 * process, as it knows all its connections to the file.
 */
const program = `
  const { parentPort, workerData } = require('node:worker_threads')
  const { DatabaseSync } = require('node:sqlite')
  const database = new DatabaseSync(new URL(workerData), { readOnly: true })
  try {
    const rows = database.prepare('PRAGMA integrity_check(${mostFindings})').all()
    parentPort.postMessage(rows.map(row => String(row.integrity_check).replaceAll('\\n', ' ')))
  } finally {
    database.close()
  }
`

/** The same in a thread of its own, of a database of which nothing is in its log and that does not change meanwhile. */
export async function checkInThread(path: string): Promise<readonly string[]> {
  const url = pathToFileURL(path)
  url.search = 'immutable=1'
  const findings = await new Promise<readonly string[]>((resolve, reject) => {
    const worker = new Worker(program, { eval: true, workerData: url.href })
    worker.unref()
    worker.once('message', resolve)
    worker.once('error', reject)
    worker.once('exit', () => {
      reject(new Error('the check of the database ended without an answer'))
    })
  })
  return findings.length === 1 && findings[0] === 'ok' ? [] : findings
}
