/** One request as a log tells it. Escapes stay as the server wrote them. */
export interface AccessLine {
  /** Integer microseconds since 1970. */
  time: number;
  client: string;
  user: string;
  /** `-` if the request is not `METHOD path PROTOCOL`, such as TLS that came to a plain port. */
  method: string;
  /** Without the query, which would make every search a path of its own; `-` as for the method. */
  path: string;
  status: string;
}

// client ident user [time] "request" status bytes, and then whatever a format adds. A user name may
// hold spaces and brackets, but a quote only escaped: so the first bare quote begins the request,
// and nobody can smuggle in a time or a request by his name.
const LINE =
  /^([^ ]+) [^ ]+ ((?:[^"\\]|\\.)*?) \[([^[\]]+)\] "((?:[^"\\]|\\.)*)" (\d{3}|-) (?:\d+|-)(?: |$)/s;
const REQUEST = /^([!#$%&'*+.^_`|~\w-]+) ([^ ]+) HTTP\/\d(?:\.\d)?$/;

/** A line of the common or the combined log format, or undefined if it is none. */
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
/** The clock begins in 1970, and a later year plus a long period would leave the exact integers. */
const YEARS = { first: 1970, last: 2199 };

/** `17/May/2015:10:05:03 +0000` in microseconds, or undefined if there is no such instant. */
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
  // Date takes the 30th of February for the 2nd of March.
  if (new Date(local).getUTCDate() !== day) return undefined;
  const offset = (zoneHour * 60 + zoneMinute) * 60_000;
  const time = (match[7] === '-' ? local + offset : local - offset) * 1000;
  return time < 0 ? undefined : time;
}
