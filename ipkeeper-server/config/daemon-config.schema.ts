import { Type, type Static } from 'typebox'

const Duration = (description: string): ReturnType<typeof Type.String> =>
  Type.String({ pattern: '^[1-9][0-9]{0,8}[smhd]$', description })

/** Every key of the daemon's configuration file. Unknown keys are errors. */
export const DaemonConfigFile = Type.Object(
  {
    node: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 253,
        pattern: '^[A-Za-z0-9]([A-Za-z0-9_.-]*[A-Za-z0-9])?$',
        description: 'Name of this node in leases and errors. Default: the hostname.',
      }),
    ),
    retention: Type.Optional(
      Type.String({
        description:
          'What becomes of an address after DEL for pods that say nothing: release, while-owner-exists, forever, or a duration such as 30m. Default: release.',
      }),
    ),
    cooldown: Type.Optional(
      Duration('How long a freed address rests before dynamic choice takes it. Default: 60s.'),
    ),
    preferFor: Type.Optional(
      Duration(
        'How long dynamic choice leaves alone what a pod had asked for by name, after its DEL. Default: 10m.',
      ),
    ),
    logLevel: Type.Optional(
      Type.Union(
        [
          Type.Literal('trace'),
          Type.Literal('debug'),
          Type.Literal('info'),
          Type.Literal('warn'),
          Type.Literal('error'),
          Type.Literal('fatal'),
        ],
        { description: 'Least severe log line that is written. Default: info.' },
      ),
    ),
  },
  { $id: 'DaemonConfigFile', additionalProperties: false },
)
export type DaemonConfigFile = Static<typeof DaemonConfigFile>
