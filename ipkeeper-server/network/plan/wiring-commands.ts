import type { Command } from './command.ts'

/** The commands that wire a pod, in their order. Between `link` and `addresses` it is asked whether others have them. */
export interface WiringCommands {
  /** Makes the links of both namespaces: in the host's, up to the name of one that is the pod's alone. */
  readonly host: readonly Command[]
  /** In the pod's: its link comes up. */
  readonly link: readonly Command[]
  readonly addresses: readonly Command[]
  /** What leads to others: routes, and the MAC of a gateway that nobody needs to ask for. */
  readonly routes: readonly Command[]
}
