ALTER TABLE pinguard.call ADD COLUMN counted_here text;
