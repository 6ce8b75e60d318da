import { formatAddress, type Address } from '../../../shared/net/address.ts'
import { Problem } from '../../../shared/problem/problem.ts'
import { describeLease, releaseCommand, whenFree } from './claim-problems.ts'
import type { LeaseRecord, Workload } from '../records/records.ts'
import type { MacRequest } from '../request/request.ts'
import { remedyFor, type Standing } from '../records/standing.ts'
import { bearsGeneratedName, sameWorkload } from '../records/workload.ts'

const chooseAnother = 'choose another MAC address for this pod, or none: then it gets one of its own'

const taken = ({ mac, source }: MacRequest, who: string, hint = chooseAnother): Problem =>
  new Problem('IPK_MAC_TAKEN', `${source} asks for ${mac}, which ${who}`, { hint })

/** The texts of MAC addresses that a pod cannot have. */
export const macProblem = {
  /** `who`: "the gateway 10.22.0.1 has". */
  of: (asked: MacRequest, who: string): Problem => taken(asked, who),

  ofLink: (asked: MacRequest, node: string, link: string): Problem =>
    taken(asked, `node ${node} has itself, on link ${link}`),

  /** A pod has it, or is to have it back with its address. `workload`: of the one that asks. */
  held(asked: MacRequest, lease: LeaseRecord, workload: Workload | null, standing: Standing): Problem {
    const has = `${describeLease(lease)} has; ${whenFree(lease, standing)}`
    const { holder, state } = lease
    if (state === 'held')
      return taken(asked, has, `${chooseAnother}; or end what is kept: ${releaseCommand(lease)}`)
    const older = sameWorkload(lease.workload, workload) && holder.kind === 'pod'
    if (!older || !bearsGeneratedName(holder.name, lease.workload))
      return taken(asked, has, `${chooseAnother}; or ${remedyFor(lease, standing)}`)
    return new Problem('IPK_MAC_BUSY', `${asked.source} asks for ${asked.mac}, which ${has}`, {
      hint:
        lease.workload?.kind === 'VirtualMachineInstance'
          ? 'a live migration, where two pods of one machine have one MAC address, is not supported: stop the virtual machine and start it again'
          : 'wait until that pod is gone: one MAC address is for one pod at a time, so set maxSurge 0 or strategy Recreate, and replicas 1',
    })
  },

  /** Whoever has or gets an address has it by default. */
  ofAddress: (asked: MacRequest, address: Address, lease: LeaseRecord | undefined): Problem =>
    taken(
      asked,
      `is that of the pod with address ${formatAddress(address)}${lease ? `: ${describeLease(lease)}` : ', whoever gets it'}`,
    ),

  ofMany: (asked: MacRequest): Problem =>
    taken(
      asked,
      'is one of those that pods of this network have by default: they begin with 0e',
      'choose one that begins with 02, or none: then the pod gets one of its own',
    ),
}
