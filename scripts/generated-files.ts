import { commandReference } from './generate-command-docs.ts'
import { configurationReference } from './generate-configuration-docs.ts'
import { chart } from './generate-chart.ts'
import { customResources } from './generate-crds.ts'
import { errorReference } from './generate-docs.ts'
import { metricReference } from './generate-metrics-docs.ts'
import { itSaysReference } from './generate-it-says.ts'
import { lintRuleReference } from './generate-lint-docs.ts'
import { manualPages } from './generate-man.ts'
import { netconfReference } from './generate-netconf-docs.ts'
import { validators } from './generate-validators.ts'
import type { GeneratedFile } from './write-generated.ts'

/** Every file that is generated and checked in. */
export const generatedFiles: readonly GeneratedFile[] = [
  validators,
  errorReference,
  configurationReference,
  netconfReference,
  metricReference,
  itSaysReference,
  lintRuleReference,
  commandReference,
  ...manualPages,
  ...customResources,
  // Made of those as they are in the checkout.
  ...chart,
]
