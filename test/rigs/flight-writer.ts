/** A thread that appends lines to a flight record, as one more plugin would; all start when the gate opens. */
import { workerData } from 'node:worker_threads'
import { appendFlight, type FlightLogLimits } from '../../plugin/flight-log.ts'

export interface FlightWriterData {
  readonly stateDir: string
  readonly lines: readonly string[]
  readonly limits: FlightLogLimits
  readonly gate: SharedArrayBuffer
}

const { stateDir, lines, limits, gate } = workerData as FlightWriterData
Atomics.wait(new Int32Array(gate), 0, 0)
for (const line of lines) appendFlight(stateDir, line, limits)
