import t from 'tap'
import { formatTime } from '../../../../ipkeeper-server/ipam/records/format-time.ts'

t.equal(formatTime(0), '1970-01-01T00:00:00Z')
t.equal(formatTime(1_700_000_000_999), '2023-11-14T22:13:20Z')
