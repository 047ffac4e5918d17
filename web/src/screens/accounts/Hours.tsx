import { Button, Checkbox, Group, Stack, Switch, Table, Text, TextInput } from "@mantine/core";
import { useState } from "react";

import type { Account } from "../../api/accounts";
import { useAct } from "../../api/act";
import { api, take } from "../../api/client";
import { useWorkspaceId } from "../../api/me";
import { weekdays } from "../queue/week";
import { actions } from "./limits";

type Hours = NonNullable<Account["hours"][string]>;
const usual: Hours = { start: "09:00", end: "18:00", days: [1, 2, 3, 4, 5] };
const kept = actions.filter(({ value }) => value !== "*");

/** When each action may run, in the account's own time; what is due outside waits for the next opening. */
export function Hours({ account, mayChange }: { account: Account; mayChange: boolean }) {
  const path = { workspace_id: useWorkspaceId(), account_id: account.id };
  const [hours, setHours] = useState(account.hours);
  const save = useAct(
    () => take(api.PATCH("/api/v1/workspaces/{workspace_id}/accounts/{account_id}", { params: { path }, body: { hours } })),
    { done: () => "The hours are saved." },
  );
  const set = (action: string, said: Hours | null) => setHours((now) => ({ ...now, [action]: said }));
  return (
    <Stack>
      <Text size="sm">
        Times of {account.zone}. What comes due outside its hours waits for the next opening. Actions without hours of their own follow the product’s defaults.
      </Text>
      {kept.map(({ value, label }) => {
        const said = hours[value];
        const own = said !== undefined && said !== null;
        return (
          <fieldset key={value} style={{ border: "none", margin: 0, padding: 0 }} disabled={!mayChange}>
            <Group gap="sm" mih={36}>
              <Switch w={210} label={label} checked={own} onChange={(event) => set(value, event.currentTarget.checked ? usual : null)} />
              {own ? <OpenHours label={label} said={said} onChange={(next) => set(value, next)} /> : <Text size="sm" c="dimmed">{said === null ? "always open" : "default"}</Text>}
            </Group>
          </fieldset>
        );
      })}
      <HoursTable hours={hours} />
      {mayChange && (
        <Button w="fit-content" loading={save.isPending} onClick={() => save.mutate()}>
          Save the hours
        </Button>
      )}
    </Stack>
  );
}

function OpenHours({ label, said, onChange }: { label: string; said: Hours; onChange: (next: Hours) => void }) {
  return (
    <Group gap="xs">
      <TextInput type="time" aria-label={`${label} from`} value={said.start.slice(0, 5)} onChange={(event) => onChange({ ...said, start: event.currentTarget.value })} />
      <TextInput type="time" aria-label={`${label} until`} value={said.end.slice(0, 5)} onChange={(event) => onChange({ ...said, end: event.currentTarget.value })} />
      <Checkbox.Group aria-label={`${label} on`} value={said.days.map(String)} onChange={(days) => onChange({ ...said, days: days.map(Number).sort() })}>
        <Group gap={8}>
          {weekdays.map(({ day, short }) => (
            <Checkbox key={day} size="xs" value={day} label={short} />
          ))}
        </Group>
      </Checkbox.Group>
    </Group>
  );
}

const EVERY = 2; // hours a cell

/** The same as a grid of the week: a filled cell is open for at least one action. */
function HoursTable({ hours }: { hours: Account["hours"] }) {
  const said = Object.values(hours).filter((each) => each !== null);
  if (said.length === 0) return null;
  const isOpen = (day: number, hour: number) => said.some((each) => covers(each, day, hour));
  const cells = Array.from({ length: 24 / EVERY }, (_, at) => at * EVERY);
  return (
    <Table.ScrollContainer minWidth={420}>
      <Table withTableBorder withColumnBorders>
        <Table.Caption>Open hours of the week: ● open, · closed</Table.Caption>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>Day</Table.Th>
            {cells.map((hour) => (
              <Table.Th key={hour} p={2} ta="center">
                {hour}
              </Table.Th>
            ))}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {weekdays.map(({ day, short }) => (
            <Table.Tr key={day}>
              <Table.Th scope="row" p={4}>
                {short}
              </Table.Th>
              {cells.map((hour) => {
                const open = isOpen(Number(day), hour);
                return (
                  <Table.Td key={hour} p={2} ta="center" bg={open ? "var(--mantine-primary-color-light)" : undefined}>
                    {open ? "●" : "·"}
                  </Table.Td>
                );
              })}
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  );
}

/** Whether any minute of a cell lies in the hours; hours that end before they begin run over midnight. */
export function covers({ start, end, days }: Hours, day: number, hour: number): boolean {
  const minutes = (time: string) => Number(time.slice(0, 2)) * 60 + Number(time.slice(3, 5));
  const [from, until] = [minutes(start), minutes(end)];
  const [first, beyond] = [hour * 60, (hour + EVERY) * 60];
  const meets = (on: number, begin: number, close: number) => days.includes(on) && first < close && beyond > begin;
  if (from < until) return meets(day, from, until);
  return meets(day, from, 1440) || meets((day + 6) % 7, 0, until);
}
