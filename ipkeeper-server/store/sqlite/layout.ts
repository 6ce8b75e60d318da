import { DatabaseSync } from 'node:sqlite'
import { Problem } from '../../../shared/problem/problem.ts'
import { damaged } from './damage.ts'
import { integrityFindings } from './integrity.ts'
import { migrations, type Filling } from './migrations.ts'
import { sqlFunctions } from './row-sum.ts'
import { isPlausible } from './salvage.ts'
import { sealFunctions } from './seal.ts'

/** How many steps were applied (PRAGMA user_version). */
export function readLayout(database: DatabaseSync): number {
  return Number(database.prepare('PRAGMA user_version').get()?.['user_version'] ?? 0)
}

/** Brings a database of old to the present layout. Throws for one of a newer ipkeeper, and for one in which something is wrong. */
export function upgradeLayout(path: string, database: DatabaseSync): void {
  const layout = readLayout(database)
  if (layout > migrations.length) throw newerLayout(path, layout)
  if (layout < migrations.length) upgrade(path, database, layout)
}

function newerLayout(path: string, layout: number): Problem {
  const known = `newer than this version of ipkeeper-server knows (${migrations.length})`
  // Not "choose another --store": an empty one would give addresses again that pods have.
  return new Problem('IPK_STORE_FAILED', `store ${path}: layout ${layout} is ${known}`, {
    hint: 'start the newer ipkeeper-server again, or put the copy of the state folder from before the upgrade back; see "Going back" in docs/operations/upgrade.md',
  })
}

/** What is wrong already must not get checksums that say it is right. */
function upgrade(path: string, database: DatabaseSync, layout: number): void {
  const findings = integrityFindings(database)
  if (findings.length > 0) throw damaged(path, findings.join('; '))
  if (layout > 0) {
    for (const row of database.prepare('SELECT kind, key, body FROM record').iterate()) {
      const [kind, key, body] = [String(row['kind']), String(row['key']), String(row['body'])]
      if (!isPlausible(kind, key, body)) throw damaged(path, `${kind} ${key} is not as ipkeeper writes it`)
    }
  }
  try {
    applySteps(database, layout)
  } catch (error) {
    // "table record already exists": then the number is wrong, and not the tables.
    const isMistaken = error instanceof Error && 'errcode' in error && error.errcode === 1
    throw isMistaken ? damaged(path, `its layout cannot be ${layout}: ${error.message}`) : error
  }
}

/** Rows that are filled at a time: all values that a function is given stay in memory until its statement has ended. */
const filledAtOnce = 1000

function fill(database: DatabaseSync, { table, set, key }: Filling): void {
  const columns = Object.keys(key).join(', ')
  const values = Object.keys(key)
    .map(() => '?')
    .join(', ')
  const beyond = `(${columns}) > (${values})`
  const end = database.prepare(
    `SELECT ${columns} FROM ${table} WHERE ${beyond} ORDER BY ${columns} LIMIT 1 OFFSET ${filledAtOnce - 1}`,
  )
  const part = database.prepare(`UPDATE ${table} SET ${set} WHERE ${beyond} AND (${columns}) <= (${values})`)
  const rest = database.prepare(`UPDATE ${table} SET ${set} WHERE ${beyond}`)
  for (let from = Object.values(key); ;) {
    const row = end.get(...from) as Filling['key'] | undefined
    if (!row) {
      rest.run(...from)
      return
    }
    const to = Object.values(row)
    part.run(...from, ...to)
    from = to
  }
}

/** Applies the steps that are missing, all of them or none. */
export function applySteps(database: DatabaseSync, applied: number): void {
  for (const [name, compute] of Object.entries({ ...sqlFunctions, ...sealFunctions }))
    database.function(name, { deterministic: true }, compute)
  database.exec('BEGIN EXCLUSIVE')
  for (const part of migrations.slice(applied).flat())
    if (typeof part === 'string') database.exec(part)
    else fill(database, part)
  database.exec(`PRAGMA user_version = ${migrations.length}`)
  database.exec('COMMIT')
}

/** Tables and indexes by name, with the texts that made them. */
function describe(database: DatabaseSync): ReadonlyMap<string, string> {
  const rows = database.prepare('SELECT name, sql FROM sqlite_schema WHERE sql IS NOT NULL').all()
  return new Map(rows.map(row => [String(row['name']), String(row['sql'])]))
}

/** What is not as the steps make it; undefined when all is. A flipped bit there would change what all rows mean. */
export function layoutFault(database: DatabaseSync): string | undefined {
  const reference = new DatabaseSync(':memory:')
  try {
    applySteps(reference, 0)
    const present = describe(database)
    for (const [name, sql] of describe(reference))
      if (present.get(name) !== sql) return `its table or index ${name} is not as it was made`
    return undefined
  } finally {
    reference.close()
  }
}
