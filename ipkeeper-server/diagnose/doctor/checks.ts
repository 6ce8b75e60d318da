import type { Check } from './check.ts'
import { auditCheck } from './checks/audit.ts'
import { binDirCheck } from './checks/bin-dir.ts'
import { capabilitiesCheck } from './checks/capabilities.ts'
import { clockCheck } from './checks/clock.ts'
import { configCheck } from './checks/config.ts'
import { conflistCheck } from './checks/conflist.ts'
import { daemonCheck } from './checks/daemon.ts'
import { deferredDelsCheck } from './checks/deferred-dels.ts'
import { flightRecordCheck } from './checks/flight-record.ts'
import { identityCheck } from './checks/identity.ts'
import { kernelFeaturesCheck } from './checks/kernel-features.ts'
import { kubernetesApiCheck } from './checks/kubernetes-api.ts'
import { librariesCheck } from './checks/libraries.ts'
import { netnsPropagationCheck } from './checks/netns-propagation.ts'
import { oldBootCheck } from './checks/old-boot.ts'
import { pluginCheck } from './checks/plugin.ts'
import { processCapabilitiesCheck } from './checks/process-capabilities.ts'
import { resultCacheCheck } from './checks/result-cache.ts'
import { runtimeCheck } from './checks/runtime.ts'
import { engineCheck } from './checks/engine.ts'
import { severalNodesCheck } from './checks/several-nodes.ts'
import { socketCheck } from './checks/socket.ts'
import { stateFolderCheck } from './checks/state-folder.ts'
import { storeCheck } from './checks/store.ts'
import { sysctlsCheck } from './checks/sysctls.ts'
import { toolsCheck } from './checks/tools.ts'

/** Everything that pods of a node need, in the order in which it is told. */
export const checks: readonly Check[] = [
  socketCheck,
  daemonCheck,
  configCheck,
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
  kubernetesApiCheck,
  clockCheck,
  oldBootCheck,
  auditCheck,
  flightRecordCheck,
]
