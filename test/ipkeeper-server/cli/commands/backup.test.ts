import { statSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { backupCommand, restoreCommand } from '../../../../ipkeeper-server/cli/commands/backup.ts'
import type { CtlCommand, ReadCall } from '../../../../ipkeeper-server/cli/framework/command.ts'
import type { DaemonClient } from '../../../../ipkeeper-server/cli/framework/daemon-client.ts'
import type { Terminal } from '../../../../ipkeeper-server/cli/framework/terminal.ts'
import { backupParts } from '../../../../ipkeeper-server/migrate/transfer/backup-lines.ts'
import { copyLedger } from '../../../../ipkeeper-server/migrate/transfer/ledger-copy.ts'
import { TestService } from '../../leases/test-service.ts'

const terminal = { env: {}, err: () => undefined, progress: () => undefined } as unknown as Terminal

const printed = async (
  tool: CtlCommand,
  daemon: Partial<DaemonClient>,
  file: string,
  options: ReadCall['options'] = {},
): Promise<string> => {
  const call: ReadCall = { positionals: [file], options, flags: new Set() }
  const data = await tool.run(daemon as DaemonClient, call, terminal, () => undefined)
  return tool.print(data, (_tone, text) => text, true)
}

async function textOf(parts: AsyncIterable<string>): Promise<string> {
  let text = ''
  for await (const part of parts) text += part
  return text
}

t.test('the command that brings a backup back finds the store that it is of', async t => {
  const story = await TestService.open()
  await story.add({ pod: 'web-0', container: 'c1' })
  const head = { version: '0.0.0', createdAt: '2026-01-01T00:00:00.000Z', node: 'n1', store: 'sqlite' }
  const text = await textOf(backupParts(await copyLedger(story.store), head))
  const file = join(t.testdir(), 'ledger')
  for (const [stateDir, store, options] of [
    ['/var/lib/ipkeeper', { kind: 'sqlite', location: '/var/lib/ipkeeper/leases.db' }, ''],
    ['/d d', { kind: 'sqlite', location: '/d d/leases.db' }, " --state-dir '/d d'"],
    ['/d', { kind: 'sqlite', location: '/x.db' }, ' --store sqlite:/x.db --state-dir /d'],
    [
      '/var/lib/ipkeeper',
      { kind: 'etcd', location: 'https://a:2379,https://b:2379' },
      ' --store etcd:https://a:2379,https://b:2379',
    ],
    ['/var/lib/ipkeeper', { kind: 'kubernetes', location: 'https://a:6443' }, ' --store kubernetes:'],
  ] as const) {
    const daemon = {
      stream: () => [text].values() as unknown as AsyncIterable<string>,
      ask: () => Promise.resolve({ stateDir, store }),
    }
    const said = await printed(backupCommand, daemon, file)
    t.equal(said.split('\n').at(-2), `to restore it: ipkeeperctl restore ${file}${options}`)
  }
})

t.test('a restored ledger is for nobody else to read', async t => {
  const before = process.umask(0o022)
  t.teardown(() => process.umask(before))
  const story = await TestService.open()
  const head = { version: '0.0.0', createdAt: '2026-01-01T00:00:00.000Z', node: 'n1', store: 'sqlite' }
  const text = await textOf(backupParts(await copyLedger(story.store), head))
  const folder = t.testdir({ ledger: text, state: {}, 'config.yaml': 'node: n1\n' })
  const options = { 'state-dir': join(folder, 'state'), config: join(folder, 'config.yaml') }
  await printed(restoreCommand, {}, join(folder, 'ledger'), options)
  t.equal(statSync(join(folder, 'state', 'leases.db')).mode & 0o777, 0o600)
})
