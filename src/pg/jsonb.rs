//! `jsonb` values as PostgreSQL stores them, passed through unread: a detour over another JSON library would
//! change numbers and refuse what PostgreSQL accepts.
//!
//! Layout (`utils/jsonb.h`): varlena header, then a container whose first word says what it holds.

use pgrx::callconv::{Arg, ArgAbi, BoxRet, FcInfo};
use pgrx::datum::{Datum, UnboxDatum};
use pgrx::pg_sys;
use pgrx::pgrx_sql_entity_graph::metadata::{
    ArgumentError, ReturnsError, ReturnsRef, SqlMappingRef, SqlTranslatable, TypeOrigin,
};
use pgrx::{FromDatum, IntoDatum};

/// Bytes of a varlena header.
const HEADER: usize = 4;

/// The content of a `jsonb` value, without its header. Only PostgreSQL makes them.
#[derive(Clone)]
pub struct Jsonb(Vec<u8>);

impl Jsonb {
    /// Whether it is an object, and neither an array nor a scalar.
    pub fn is_object(&self) -> bool {
        let container = self.0.get(..4).map(|b| u32::from_ne_bytes([b[0], b[1], b[2], b[3]]));
        container.is_some_and(|word| word & pg_sys::JB_FOBJECT != 0)
    }
}

impl FromDatum for Jsonb {
    unsafe fn from_polymorphic_datum(datum: pg_sys::Datum, is_null: bool, _: pg_sys::Oid) -> Option<Self> {
        if is_null || datum.is_null() {
            return None;
        }
        let original = datum.cast_mut_ptr::<pg_sys::varlena>();
        let plain = pg_sys::pg_detoast_datum(original);
        let content = pgrx::varlena::varlena_to_byte_slice(plain).to_vec();
        if plain != original {
            pg_sys::pfree(plain.cast());
        }
        Some(Self(content))
    }
}

impl IntoDatum for Jsonb {
    fn into_datum(self) -> Option<pg_sys::Datum> {
        let size = HEADER + self.0.len();
        // SAFETY: `size` bytes are allocated and all of them written: the length word, then the content.
        unsafe {
            let base = pg_sys::palloc(size).cast::<u8>();
            pgrx::varlena::set_varsize_4b(base.cast(), size as i32);
            std::ptr::copy_nonoverlapping(self.0.as_ptr(), base.add(HEADER), self.0.len());
            Some(pg_sys::Datum::from(base))
        }
    }

    fn type_oid() -> pg_sys::Oid {
        pg_sys::JSONBOID
    }
}

// SAFETY: the value is copied out of the datum, nothing borrows from it.
unsafe impl UnboxDatum for Jsonb {
    type As<'src> = Jsonb;
    unsafe fn unbox<'src>(datum: Datum<'src>) -> Jsonb
    where
        Self: 'src,
    {
        Jsonb::from_datum(datum.sans_lifetime(), false).unwrap_or(Jsonb(Vec::new()))
    }
}

// SAFETY: the argument is a `jsonb` datum by the SQL declaration.
unsafe impl<'fcx> ArgAbi<'fcx> for Jsonb {
    unsafe fn unbox_arg_unchecked(arg: Arg<'_, 'fcx>) -> Self {
        arg.unbox_arg_using_from_datum().unwrap_or(Jsonb(Vec::new()))
    }
}

// SAFETY: the datum is freshly allocated in the current memory context.
unsafe impl BoxRet for Jsonb {
    unsafe fn box_into<'fcx>(self, fcinfo: &mut FcInfo<'fcx>) -> Datum<'fcx> {
        match self.into_datum() {
            Some(datum) => fcinfo.return_raw_datum(datum),
            None => fcinfo.return_null(),
        }
    }
}

// SAFETY: names an existing SQL type.
unsafe impl SqlTranslatable for Jsonb {
    const TYPE_IDENT: &'static str = pgrx::pgrx_resolved_type!(Jsonb);
    const TYPE_ORIGIN: TypeOrigin = TypeOrigin::External;
    const ARGUMENT_SQL: Result<SqlMappingRef, ArgumentError> = Ok(SqlMappingRef::literal("jsonb"));
    const RETURN_SQL: Result<ReturnsRef, ReturnsError> = Ok(ReturnsRef::One(SqlMappingRef::literal("jsonb")));
}
