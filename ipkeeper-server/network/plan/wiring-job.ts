import type { ResultAddress } from '../../../shared/cni/result.ts'
import type { AttachmentKey, WiringRecord } from '../../ipam/records/records.ts'
import type { MainConfig } from '../../ipam/records/main-config.ts'
import type { Survey } from './survey.ts'

/** All that the commands of one ADD are made from. */
export interface WiringJob {
  readonly config: MainConfig
  readonly survey: Survey
  readonly key: AttachmentKey
  readonly wiring: WiringRecord
  /** Addresses of the pod in CIDR notation, with their gateways. */
  readonly ips: readonly ResultAddress[]
}
