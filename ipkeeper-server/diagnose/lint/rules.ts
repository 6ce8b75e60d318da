import type { LintRule } from './rule.ts'
import { binDirMissing } from './rules/bin-dir-missing.ts'
import { brokenEncoding } from './rules/broken-encoding.ts'
import { brokenFileFirst } from './rules/broken-file-first.ts'
import { chainedFirst } from './rules/chained-first.ts'
import { cniVersionOld } from './rules/cni-version-old.ts'
import { cniVersionUnknown } from './rules/cni-version-unknown.ts'
import { cniVersionUnsupported } from './rules/cni-version-unsupported.ts'
import { conflistAsYaml } from './rules/conflist-as-yaml.ts'
import { duplicateKey } from './rules/duplicate-key.ts'
import { duplicateNetworkName } from './rules/duplicate-network-name.ts'
import { gatewayOutside } from './rules/gateway-outside.ts'
import { hiddenFile } from './rules/hidden-file.ts'
import { hostBits } from './rules/host-bits.ts'
import { ignoredFile } from './rules/ignored-file.ts'
import { invalidAddress } from './rules/invalid-address.ts'
import { ipamInChained } from './rules/ipam-in-chained.ts'
import { ipkeeperRefuses } from './rules/ipkeeper-refuses.ts'
import { keyCase } from './rules/key-case.ts'
import { listInConf } from './rules/list-in-conf.ts'
import { missingCapability } from './rules/missing-capability.ts'
import { missingKey } from './rules/missing-key.ts'
import { networkNameRule } from './rules/network-name.ts'
import { notAnObject } from './rules/not-an-object.ts'
import { overlappingRanges } from './rules/overlapping-ranges.ts'
import { placeholderRule } from './rules/placeholder.ts'
import { pluginMissing } from './rules/plugin-missing.ts'
import { pluginName } from './rules/plugin-name.ts'
import { pluginNotExecutable } from './rules/plugin-not-executable.ts'
import { pluginSilent } from './rules/plugin-silent.ts'
import { pluginUnsafe } from './rules/plugin-unsafe.ts'
import { rangeBounds } from './rules/range-bounds.ts'
import { shadowedFile } from './rules/shadowed-file.ts'
import { singleInConflist } from './rules/single-in-conflist.ts'
import { smallPool } from './rules/small-pool.ts'
import { staysOnNode } from './rules/stays-on-node.ts'
import { syntaxRules } from './rules/syntax.ts'
import { templateMarker } from './rules/template-marker.ts'
import { unknownKey } from './rules/unknown-key.ts'
import { unreadableFile } from './rules/unreadable-file.ts'
import { wrongType } from './rules/wrong-type.ts'
import { yamlSyntax } from './rules/yaml-syntax.ts'

/** Every rule, in the order of the reference: what the runtime chooses, form, the list, plugins, addresses. */
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
]
