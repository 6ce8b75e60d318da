import { join } from 'node:path'
import { goModule } from './go-module.ts'

/** Multus, the thin executable; scripts/multus/go.mod alone says in which version. */
export const multusModule = goModule('multus', 'scripts/multus', 'scripts/build-multus.ts')

/** The path that its go.mod claims; that of GitHub is refused. */
export const multusPackage = 'gopkg.in/k8snetworkplumbingwg/multus-cni.v4/cmd/multus'

export const multusExecutable = join(multusModule.built, 'multus')
