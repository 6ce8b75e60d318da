/** All listings of ipkeeperctl are called alike: what one takes, the others take too. */
import t from 'tap'
import type { CtlCommand } from '../../../ipkeeper-server/cli/framework/command.ts'
import { commonOptions, formatsOf } from '../../../ipkeeper-server/cli/framework/options.ts'
import { commands } from '../../../ipkeeper-server/cli/ipkeeperctl.ts'

const listings = commands.filter(({ summary, keys }) => summary.startsWith('List ') || keys !== undefined)

/** What can be filtered, by the column that shows it. */
const filterOfColumn = { namespace: 'namespace', pod: 'pod', node: 'node', pool: 'pool', owner: 'owner' }

/** Options that a listing does without, and why. */
const without: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  flights: { node: 'the flights are those of this node' },
  'cache scan': { 'sort-by': 'files of this node, in the order of folders', limit: 'all have to be seen' },
  'cache quarantine': { 'sort-by': 'files of this node, by time', limit: 'all have to be seen' },
}

/** Columns whose filter bears another name than the column's key. */
const renamed: Readonly<Record<string, readonly string[]>> = {
  nodes: ['node'],
  pools: ['pool'],
  reservations: ['namespace', 'pod', 'pool'],
  uplinks: ['bridge', 'uplink'],
}

const optionsOf = (command: CtlCommand): readonly string[] =>
  Object.keys({ ...command.options, ...commonOptions(command) })

t.test('there are these listings', t => {
  t.strictSame(listings.map(({ name }) => name).sort(), [
    ...['attachments', 'cache quarantine', 'cache scan', 'flights', 'history', 'leases', 'nodes', 'pools'],
    ...['reservations', 'uplinks'],
  ])
  t.end()
})

for (const command of listings)
  t.test(`ipkeeperctl ${command.name}`, t => {
    const options = optionsOf(command)
    const { keys = [], name } = command
    t.strictSame(formatsOf(command).toSorted(), ['csv', 'json', 'name', 'table', 'wide', 'yaml'], '-o')
    const filters = Object.entries(filterOfColumn).flatMap(([key, filter]) =>
      keys.includes(key) ? [filter] : [],
    )
    const promised = ['no-headers', 'watch', 'interval', 'output', 'sort-by', 'limit', ...filters]
    for (const option of [...promised, ...(renamed[name] ?? [])])
      if (without[name]?.[option] === undefined) t.ok(options.includes(option), `--${option}`)
    t.end()
  })
