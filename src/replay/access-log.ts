/** One request in an access log. Escapes stay as the server wrote them. */
export interface AccessLine {
  /** Integer microseconds since 1970. */
  time: number;
  client: string;
  user: string;
  /** `-` if the request is not `METHOD path PROTOCOL`, as when TLS arrives at a plain port. */
  method: string;
  /** Without the query, or else every search would be a path of its own. `-` like the method. */
  path: string;
  status: string;
}

// client ident user [time] "request" status bytes, then anything that a format adds. A user name
// may contain spaces and brackets, but a quote only if it is escaped. So the first unescaped quote
// begins the request, and no client can forge a time or a request through its user name.
const LINE =
  /^([^ ]+) [^ ]+ ((?:[^"\\]|\\.)*?) \[([^[\]]+)\] "((?:[^"\\]|\\.)*)" (\d{3}|-) (?:\d+|-)(?: |$)/s;
const REQUEST = /^([!#$%&'*+.^_`|~\w-]+) ([^ ]+) HTTP\/\d(?:\.\d)?$/;

/** Parses a line of the common or the combined log format. Returns undefined for other lines. */
export function parseAccessLine(line: string): AccessLine | undefined {
  const match = LINE.exec(line);
  if (match === null) return undefined;
  const [, client = '', user = '', timeText = '', request = '', status = ''] = match;
  const time = parseTime(timeText);
  if (time === undefined) return undefined;
  const [, method = '-', target = '-'] = REQUEST.exec(request) ?? [];
  const query = target.indexOf('?');
  const path = query === -1 ? target : target.slice(0, query);
  return { time, client, user, method, path, status };
}

const TIME = /^(\d\d)\/([A-Z][a-z]{2})\/(\d{4}):(\d\d):(\d\d):(\d\d) ([+-])(\d\d)(\d\d)$/;
const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];
/** Times before 1970 are negative; after 2199, adding a long period may exceed 2^53 microseconds. */
const YEARS = { first: 1970, last: 2199 };

/**
 * Returns the microseconds of a time like `17/May/2015:10:05:03 +0000`, or undefined if there is no
 * such instant.
 */
function parseTime(text: string): number | undefined {
  const match = TIME.exec(text);
  if (match === null) return undefined;
  const number = (group: number): number => Number(match[group]);
  const [day, month, year] = [number(1), MONTHS.indexOf(match[2] ?? ''), number(3)];
  const [hour, minute, second] = [number(4), number(5), number(6)];
  const [zoneHour, zoneMinute] = [number(8), number(9)];
  if (month === -1 || year < YEARS.first || year > YEARS.last) return undefined;
  if (hour > 23 || minute > 59 || second > 59 || zoneHour > 14 || zoneMinute > 59) return undefined;
  const local = Date.UTC(year, month, day, hour, minute, second);
  // Date turns the 30th of February into the 2nd of March.
  if (new Date(local).getUTCDate() !== day) return undefined;
  const offset = (zoneHour * 60 + zoneMinute) * 60_000;
  const time = (match[7] === '-' ? local + offset : local - offset) * 1000;
  return time < 0 ? undefined : time;
}
