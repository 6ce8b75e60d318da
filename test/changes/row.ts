/** What a row of the table of changes says. */
import type { Settings } from '../rigs/wired-node.ts'

/** A configuration: pools of the daemon's file, and the conflist. */
export interface Configuration {
  /** Of the daemon's file. */
  readonly pools?: readonly Settings[]
  /** Name of the network; "net" when absent. */
  readonly network?: string
  /** Of the conflist. */
  readonly ipam: Settings
  /** Keys beside `ipam`. */
  readonly settings?: Settings
}

/** What a pod gets afterwards: the address it had or was promised, another one, any one at all, or this error. */
export type Outcome = 'same' | 'other' | 'any' | `IPK_${string}`

/** Pods by how they stand to an address before the change. */
export interface Outcomes {
  /** A pod that asks for nothing. */
  readonly fresh: Outcome
  /** A pod that has asked for its address by name and lives: its next sandbox. The present one keeps its address in each row. */
  readonly live: Outcome
  /** A deleted pod whose address is kept: when it comes back, asking for nothing. */
  readonly kept: Outcome
  /** Whoever asks by name for an address that is cooling down. */
  readonly cooling: Outcome
  /** The pod that an address is reserved for, asking for nothing. */
  readonly reserved: Outcome
}

export type Kind = keyof Outcomes

export type Role = 'ipam' | 'main'
export type Store = 'sqlite' | 'etcd' | 'kubernetes'

export interface Row {
  /** "the subnet", as in "I want to change the subnet". */
  readonly what: string
  /** Which file is changed. */
  readonly where: 'file' | 'conflist' | 'both' | 'neither'
  /** In which layout the daemon of after the change finds the node's own ledger, as an older version has left it. */
  readonly layout?: 1 | 2 | 3
  readonly before: Configuration
  readonly after: Configuration
  /** The code by which the daemon refuses the file; absent: it is put in force, or there is none. */
  readonly refused?: `IPK_${string}`
  /** What must stand in what `status` or an error says, beside the code. */
  readonly says?: RegExp
  readonly gets: Outcomes
  /** In the main role, where that differs: wiring has a say. */
  readonly inMain?: Partial<Outcomes>
  /** The same with a store that nodes share, where that differs. */
  readonly onShared?: { readonly refused?: `IPK_${string}`; readonly gets: Outcomes }
  /** What a pod gets even when nobody has an address any more, where that is an error. */
  readonly allWrong?: RegExp
  /** A DEL with the new conflist does not mean a pod from before: the sweeper ends it when its sandbox is gone. */
  readonly swept?: true
  /** Roles in which there is nothing to play, and why. */
  readonly without?: Partial<Record<Role, string>>
  /** What to type, for the page. */
  readonly type: string
  /** Where each run of all tests plays it, and not only `make test-all`. */
  readonly always?: readonly `${Store} ${Role}${'' | ', stopped'}`[]
}
