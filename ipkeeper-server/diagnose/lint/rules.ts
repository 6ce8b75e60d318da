import type { LintRule } from './lint-rule.ts'
import {
  attachmentInterface,
  attachmentNetworkName,
  attachmentOfOtherNamespace,
  attachmentSelection,
  attachmentUnknown,
  attachmentWithoutConfig,
} from './rules/attachments.ts'
import { chainedFirst, ipamInChained } from './rules/chain.ts'
import { cniVersionOld, cniVersionUnknown, cniVersionUnsupported } from './rules/cni-version.ts'
import { brokenFileFirst, hiddenFile, ignoredFile, shadowedFile } from './rules/file-choice.ts'
import {
  brokenEncoding,
  conflistAsYaml,
  listInConf,
  notAnObject,
  singleInConflist,
  unreadableFile,
  yamlSyntax,
} from './rules/file-form.ts'
import { invalidAddress } from './rules/invalid-address.ts'
import { ipkeeperRefuses } from './rules/ipkeeper-refuses.ts'
import { duplicateKey, keyCase, unknownKey } from './rules/keys.ts'
import { missingCapability } from './rules/missing-capability.ts'
import { missingKey } from './rules/missing-key.ts'
import { duplicateNetworkName, networkNameRule } from './rules/network-name.ts'
import { overlappingRanges } from './rules/overlapping-ranges.ts'
import {
  binDirMissing,
  pluginMissing,
  pluginName,
  pluginNotExecutable,
  pluginSilent,
  pluginUnsafe,
} from './rules/plugin-programs.ts'
import { gatewayOutside, hostBits, rangeBounds } from './rules/range-values.ts'
import { smallPool } from './rules/small-pool.ts'
import { staysOnNode } from './rules/stays-on-node.ts'
import { syntaxRules } from './rules/syntax.ts'
import { placeholderRule, templateMarker } from './rules/unfilled-value.ts'
import { wrongType } from './rules/wrong-type.ts'

/** Every rule, in the order of the reference: what the runtime chooses, form, the list, plugins, addresses, definitions of Multus and their pods. */
export const rules: readonly LintRule[] = [
  ...[unreadableFile, brokenFileFirst, shadowedFile, hiddenFile, ignoredFile, duplicateNetworkName],
  ...[listInConf, singleInConflist, conflistAsYaml, yamlSyntax, brokenEncoding],
  ...syntaxRules,
  ...[templateMarker, placeholderRule, notAnObject, duplicateKey, missingKey, networkNameRule],
  ...[unknownKey, keyCase, wrongType],
  ...[cniVersionUnknown, cniVersionUnsupported, cniVersionOld],
  ...[pluginName, binDirMissing, pluginMissing, pluginNotExecutable, pluginUnsafe, pluginSilent],
  ...[chainedFirst, ipamInChained, missingCapability, staysOnNode],
  ...[invalidAddress, hostBits, gatewayOutside, rangeBounds, smallPool, overlappingRanges, ipkeeperRefuses],
  ...[attachmentWithoutConfig, attachmentNetworkName, attachmentSelection, attachmentUnknown],
  ...[attachmentOfOtherNamespace, attachmentInterface],
]
