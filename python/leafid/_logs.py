"""leafid's log records for logging, as the logger "leafid". Called by the native module."""

import logging


def level() -> int:
    """The least level that the logger lets through; above all of them for none."""
    logger = logging.getLogger("leafid")
    levels = (logging.DEBUG, logging.INFO, logging.WARNING, logging.ERROR)
    return next((level for level in levels if logger.isEnabledFor(level)), logging.CRITICAL + 1)


def deliver(level: int, message: str) -> None:
    """As `logger.log` does, but for the file and the thread: they would be those of logging itself."""
    logger = logging.getLogger("leafid")
    if logger.isEnabledFor(level):
        record = logger.makeRecord("leafid", level, "leafid", 0, message, (), None)
        record.threadName = "leafid-log"
        logger.handle(record)
