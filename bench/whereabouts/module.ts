import { join } from 'node:path'
import { goModule } from '../../test/rigs/go-module.ts'

/** The IPAM plugin that ipkeeper is measured against; go.mod beside this file alone says in which version. */
export const whereaboutsModule = goModule('whereabouts', 'bench/whereabouts', 'scripts/build-whereabouts.ts')

const path = 'github.com/k8snetworkplumbingwg/whereabouts'

export const whereaboutsPackage = `${path}/cmd`

/** Such as "0.9.4". */
export const whereaboutsVersion = (): string => whereaboutsModule.versionOf(path)

/** Go names an executable after the last part of its package's path. */
export const whereaboutsExecutable = join(whereaboutsModule.built, 'cmd')
