import { Stack, Table, Text, Title } from "@mantine/core";

import type { Account } from "../../api/accounts";
import { Fetched } from "../../ui/Fetched";
import { longDay } from "../../ui/times";
import { count } from "../../ui/words";
import { weekdays } from "../queue/week";
import { useAccountUse } from "./useAccountUse";

const SIZE = 18;

/** What the account sent in the last four weeks: a map of the week for the eye, a table for everybody. */
export function Lately({ account }: { account: Account }) {
  const use = useAccountUse(account.id);
  return (
    <Fetched query={use} rows={4}>
      {(found) => {
        const total = found.days.reduce((sum, day) => sum + day.sent, 0);
        if (found.days.length === 0) return <Text size="sm">It sent nothing in the last four weeks.</Text>;
        return (
          <Stack>
            <Title order={3} size="h5">
              {count(total, "send")} in four weeks, by hour of the week ({found.zone})
            </Title>
            <Heat hours={found.hours} total={total} />
            <Table>
              <Table.Caption>By day</Table.Caption>
              <Table.Thead>
                <Table.Tr>
                  <Table.Th>Day</Table.Th>
                  <Table.Th>Sent</Table.Th>
                  <Table.Th>Refused</Table.Th>
                </Table.Tr>
              </Table.Thead>
              <Table.Tbody>
                {found.days.toReversed().map((day) => (
                  <Table.Tr key={day.day}>
                    <Table.Td>{longDay(day.day)}</Table.Td>
                    <Table.Td>{day.sent}</Table.Td>
                    <Table.Td>{day.refused}</Table.Td>
                  </Table.Tr>
                ))}
              </Table.Tbody>
            </Table>
          </Stack>
        );
      }}
    </Fetched>
  );
}

function Heat({ hours, total }: { hours: { weekday: number; hour: number; sent: number }[]; total: number }) {
  const most = Math.max(1, ...hours.map(({ sent }) => sent));
  const sent = new Map(hours.map((each) => [`${each.weekday} ${each.hour}`, each.sent]));
  const best = hours.toSorted((one, other) => other.sent - one.sent)[0];
  const busiest = best && `busiest on ${weekdays.find(({ day }) => day === String(best.weekday))?.name} at ${best.hour}:00`;
  return (
    <svg role="img" aria-label={`${total} sends by hour of the week; ${busiest ?? "none"}`} viewBox={`0 0 ${40 + 24 * SIZE} ${7 * SIZE + 20}`} width="100%" style={{ maxWidth: 560 }}>
      {weekdays.map(({ day, short }, row) => (
        <g key={day}>
          <text x={0} y={row * SIZE + 13} fontSize={11} fill="currentColor">
            {short}
          </text>
          {Array.from({ length: 24 }, (_, hour) => {
            const here = sent.get(`${day} ${hour}`) ?? 0;
            return (
              <rect
                key={hour}
                x={36 + hour * SIZE}
                y={row * SIZE}
                width={SIZE - 2}
                height={SIZE - 2}
                rx={3}
                fill={here === 0 ? "var(--mantine-color-default-border)" : "var(--mantine-primary-color-filled)"}
                opacity={here === 0 ? 0.5 : 0.35 + 0.65 * (here / most)}
              >
                <title>
                  {short} {hour}:00: {count(here, "send")}
                </title>
              </rect>
            );
          })}
        </g>
      ))}
      {[0, 6, 12, 18].map((hour) => (
        <text key={hour} x={36 + hour * SIZE} y={7 * SIZE + 13} fontSize={11} fill="currentColor">
          {String(hour).padStart(2, "0")}:00
        </text>
      ))}
    </svg>
  );
}
