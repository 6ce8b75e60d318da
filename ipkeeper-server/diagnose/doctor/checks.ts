import type { Check } from './check-result.ts'
import { auditCheck, deferredDelsCheck, flightRecordCheck, resultCacheCheck } from './checks/leftovers.ts'
import { binDirCheck, capabilitiesCheck, conflistCheck, pluginCheck } from './checks/networks.ts'
import {
  clockCheck,
  librariesCheck,
  oldBootCheck,
  processCapabilitiesCheck,
  toolsCheck,
  userCheck,
} from './checks/machine.ts'
import {
  configCheck,
  daemonCheck,
  identityCheck,
  optionalPartsCheck,
  socketCheck,
  stateFolderCheck,
} from './checks/daemon.ts'
import { kernelFeaturesCheck, netnsPropagationCheck, sysctlsCheck } from './checks/kernel.ts'
import { poolsCheck } from './checks/pools.ts'
import { annotationsCheck, kubernetesApiCheck, poolSpecsCheck, runtimeCheck } from './checks/cluster.ts'
import { engineCheck, otherNodesCheck, severalNodesCheck, storeCheck } from './checks/store.ts'

/** Everything that pods of a node need, in the order in which it is told. */
export const checks: readonly Check[] = [
  userCheck,
  socketCheck,
  daemonCheck,
  configCheck,
  optionalPartsCheck,
  pluginCheck,
  stateFolderCheck,
  identityCheck,
  conflistCheck,
  capabilitiesCheck,
  binDirCheck,
  runtimeCheck,
  processCapabilitiesCheck,
  netnsPropagationCheck,
  librariesCheck,
  toolsCheck,
  kernelFeaturesCheck,
  sysctlsCheck,
  storeCheck,
  deferredDelsCheck,
  resultCacheCheck,
  severalNodesCheck,
  engineCheck,
  otherNodesCheck,
  poolsCheck,
  kubernetesApiCheck,
  annotationsCheck,
  poolSpecsCheck,
  clockCheck,
  oldBootCheck,
  auditCheck,
  flightRecordCheck,
]
