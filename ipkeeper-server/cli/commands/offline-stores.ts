import { defaultPaths } from '../../../shared/paths.ts'
import type { OfflineStores } from '../../open-ledger/open-offline.ts'
import type { ReadCall, Option } from '../framework/command.ts'
import type { Terminal } from '../framework/terminal.ts'

/** Options of commands that open stores themselves, while no daemon has them. */
export const offlineOptions: Readonly<Record<'state-dir' | 'config', Option>> = {
  'state-dir': {
    value: 'DIR',
    text: `state folder of the stopped daemon (default: $IPKEEPER_STATE_DIR, else ${defaultPaths.stateDir})`,
    offers: 'folder',
  },
  config: {
    value: 'FILE',
    text: `the daemon's configuration: connections to engines, and the node's name (default: ${defaultPaths.config})`,
    offers: 'file',
  },
}

export function stateDirOf({ options }: ReadCall, { env }: Terminal): string {
  return options['state-dir'] ?? (env['IPKEEPER_STATE_DIR'] || defaultPaths.stateDir)
}

/** Runs `task` with the stores of this node, and closes them whatever happens. Loaded late: most commands need no store. */
export async function withStores<T>(
  args: ReadCall,
  terminal: Terminal,
  task: (stores: OfflineStores, parse: (typeof OfflineStores)['parse']) => Promise<T>,
): Promise<T> {
  const { OfflineStores } = await import('../../open-ledger/open-offline.ts')
  const { config } = args.options
  const stores = new OfflineStores({
    stateDir: stateDirOf(args, terminal),
    config: config ?? defaultPaths.config,
    configNamed: config !== undefined,
    env: terminal.env,
    onNote: text => {
      terminal.err(`note: ${text}\n`)
    },
  })
  try {
    return await task(stores, spec => OfflineStores.parse(spec))
  } finally {
    await stores.end()
  }
}
